"""A batch on several hosts: opened here, proved by them, and kept in the history of this one."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from prefect import get_client, get_run_logger
from prefect.runtime import flow_run

import engine
from config import Config
from db import HistoryWriter, Proof, Run, State, new_id, open_history
from engine import CircuitSpec, ProofCancelled
from engine.compiling import compile_for_key
from engine.outputs import usual_folder
from flows.display.artifacts import show_proofs
from flows.display.late import marked_when_late
from flows.display.progress import tell, teller
from flows.parameters.batch import BatchParameters, batch_config
from flows.parameters.due import due_at
from flows.parameters.requests import Requests
from flows.parameters.resume import keep, taken_up
from flows.proving.real_batch import finished
from flows.spread.hosts import check_hosts
from flows.spread.share import ShareParameters
from flows.spread.spread import Spread, Wanted
from flows.summary import BatchCancelled, BatchSummary, Proofs, ProofSummary, begun
from flows.version import code_version


async def prove_on_hosts(parameters: BatchParameters) -> BatchSummary:
    """Prove the batch, or what is left of the one it resumes, on the hosts that it names.

    Here proofs are only checked and written. Raises ConfigError for a host that does not serve.
    """
    parameters = await asyncio.to_thread(taken_up, parameters)
    config = batch_config(parameters, get_run_logger().warning)
    circuit = await asyncio.to_thread(_prepared, parameters, config, teller())
    run_id = new_id()
    output = (parameters.output or usual_folder(run_id)).absolute()
    async with get_client() as client:
        await check_hosts(client, parameters.hosts)
        wanted = await _wanted(parameters, circuit, output, run_id)
        keep(parameters, output)
        with _kept(parameters, config, run_id, output, len(wanted.found)) as (summary, writer):
            spread = Spread(client, wanted, _recorded(writer, run_id, circuit, wanted))
            try:
                async with marked_when_late(wanted.requests.due, spread.word):
                    await spread.prove()
            except asyncio.CancelledError as error:
                raise BatchCancelled(replace(summary, proofs=Proofs(spread.proofs))) from error
            summary = replace(summary, proofs=Proofs(spread.proofs))
            _close(writer, summary)
    await show_proofs(summary)
    return summary


def _prepared(parameters: BatchParameters, config: Config, say: Callable[[str], None]) -> CircuitSpec:
    circuit = engine.resolve(parameters.circuit, config)
    engine.prepare(circuit, say)
    compile_for_key(circuit.zkey, say, "verify")
    return circuit


async def _wanted(parameters: BatchParameters, circuit: CircuitSpec, output: Path, run_id: str) -> Wanted:
    from engine.assembly import Assembly

    requests, partitions = Requests(parameters, circuit, output), parameters.partitions or circuit.partitions
    found = await finished(parameters, circuit.zkey, requests, partitions)
    assembly = await asyncio.to_thread(Assembly, circuit.zkey, partitions, requests.folder, run_id)
    asked = ShareParameters(
        batch=_for_each(parameters, partitions),
        host="",
        partitions="",
        key=assembly.key_digest,
        batch_run=str(flow_run.id),
    )
    stop = parameters.on_failure == "stop"
    return Wanted(asked, parameters.hosts, requests, assembly, parameters.count, partitions, found, stop)


def _for_each(parameters: BatchParameters, partitions: int) -> BatchParameters:
    """The batch as each host is told of it; what is submitted at a time there are partitions."""
    due = parameters.due and due_at(parameters.due, datetime.now().astimezone()).isoformat()
    at_a_time = -(-parameters.concurrency * partitions // len(parameters.hosts))
    own: dict[str, Any] = {"hosts": [], "output": None, "resume": None, "due": due, "concurrency": at_a_time}
    return parameters.model_copy(update={**own, "partitions": partitions})


@contextmanager
def _kept(
    parameters: BatchParameters, config: Config, run_id: str, output: Path, found: int
) -> Iterator[tuple[BatchSummary, HistoryWriter]]:
    """Inside the block the run is under way in the history; an error that leaves it is how the run ends."""
    run = Run(
        id=run_id,
        source="real",
        name=parameters.title,
        proof_count=parameters.count - found,
        code_version=code_version(),
        flow_run_id=flow_run.id,
        output_path=str(output),
    )
    opened = open_history(config.history_url(), spool=config.history_spool(), hide=config.history.hash)
    with opened as history, history.writer() as writer:
        writer.insert(run)
        summary = BatchSummary(
            run_id, history.address, output, None, flow_run.ui_url, parameters.count, found
        )
        if told := begun.get():
            told(summary)
        try:
            yield summary, writer
        except asyncio.CancelledError:
            writer.update(Run, run_id, state="cancelled", ended_at=datetime.now(UTC))
            raise
        except Exception as error:
            writer.update(Run, run_id, state="failed", error=str(error), ended_at=datetime.now(UTC))
            raise
        if lost := writer.close():
            tell(str(lost))


def _close(writer: HistoryWriter, summary: BatchSummary) -> None:
    failed = summary.failed
    state, why = ("failed", str(failed[0].error)) if failed else ("succeeded", None)
    writer.update(Run, summary.run_id, state=state, error=why, ended_at=datetime.now(UTC))


def _recorded(
    writer: HistoryWriter, run_id: str, circuit: CircuitSpec, wanted: Wanted
) -> Callable[[int, ProofSummary], None]:
    """Keeps each proof in the history; its stages are in that of the hosts."""

    def ended(index: int, proof: ProofSummary) -> None:
        cancelled = isinstance(proof.error, ProofCancelled)
        state: State = "succeeded" if proof.error is None else "cancelled" if cancelled else "failed"
        row = Proof(
            run_id=run_id,
            name=proof.name,
            circuit=circuit.name,
            partition_count=wanted.partitions,
            state=state,
            submitted_s=0.0,
            ended_s=proof.seconds,
            proof_path=str(wanted.requests.folder(index)) if proof.error is None else None,
            error=None if proof.error is None else str(proof.error),
        )
        writer.insert(row)

    return ended
