"""The flow `prove_batch`: a batch of proofs of one circuit under the memory budget, kept in the history."""

import asyncio
import time
from dataclasses import replace
from pathlib import Path

from prefect import State, flow, get_run_logger
from prefect.artifacts import acreate_table_artifact
from prefect.runtime import flow_run
from prefect.states import Cancelled, Failed

import engine
from config import home
from db import new_id, open_history
from engine import CircuitSpec, Engine, ProofCancelled, ProofFailed, ProofRequest, RunLabels
from engine.leftovers import clean_up
from flows.batch import BatchParameters, batch_config
from flows.closed_loop import closed_loop
from flows.logs import engine_log_in_ui, run_log
from flows.progress import Progress, tell
from flows.proof import follow_proof
from flows.requests import Requests
from flows.signals import cancelled_by_signals
from flows.summary import BatchFailed, BatchSummary, ProofSummary, begun
from flows.version import code_version


@flow(name="prove_batch", flow_run_name="{parameters.title}", persist_result=False)
async def prove_batch(parameters: BatchParameters) -> BatchSummary | State:
    """Prove a circuit `count` times, `concurrency` at a time, within the memory budget.

    A proof that fails does not stop the others; the flow ends with BatchFailed then. SIGTERM and Ctrl-C
    cancel it: what it holds is freed, and its run in the history closed, before it ends.
    """
    with cancelled_by_signals():
        try:
            summary = await _run(parameters)
            await acreate_table_artifact(
                [_row(proof) for proof in summary.proofs], "proofs", summary.headline
            )
            if summary.failed:
                raise BatchFailed(summary) from summary.failed[0].error
        except asyncio.CancelledError:
            if task := asyncio.current_task():
                task.uncancel()  # the rest, telling Prefect, is not cancelled
            return Cancelled(message="stopped by a signal")
        except Exception as error:  # given to Prefect as a state, since it writes to disk what a flow raises
            get_run_logger().error("%s", error, exc_info=error)
            return Failed(message=str(error), data=error)
    return summary


async def _run(parameters: BatchParameters) -> BatchSummary:
    """Open what a run needs, prove, and close it all again."""
    config = batch_config(parameters, get_run_logger().warning)
    limits = engine.policy_limits(config)
    circuit = engine.resolve(parameters.circuit, config)
    await asyncio.to_thread(engine.prepare, circuit, tell)
    await asyncio.to_thread(engine.compile_for_proofs, config, circuit.zkey, tell)
    proofs = parameters.count * (parameters.partitions or circuit.partitions)
    circuit = await asyncio.to_thread(engine.with_table, circuit, proofs, config, limits)
    run_id, flow_run_id = new_id(), flow_run.id
    output = (parameters.output or home() / "proofs" / run_id).absolute()
    labels = RunLabels(parameters.title, code_version(), flow_run_id, str(output), parameters.count)
    ledger = engine.shared_ledger(config, f"{parameters.title}, run {run_id}", limits)
    with (
        open_history(config.history_url(), spool=config.history_spool(), hide=config.history.hash) as history,
        history.writer() as writer,
        run_log(home() / "logs" / f"{run_id}.log", config.logging) as log,
        engine_log_in_ui(flow_run_id),
    ):
        clean_up(config, history)
        summary = BatchSummary(run_id, history.address, output, log, flow_run.ui_url)
        async with Engine(config, limits, writer, run_id, labels, ledger=ledger):
            if told := begun.get():
                told(summary)
            proofs = await _prove_all(parameters, circuit, output)
        if lost := writer.close():
            tell(str(lost))
    return replace(summary, proofs=tuple(proofs))


async def _prove_all(parameters: BatchParameters, circuit: CircuitSpec, output: Path) -> list[ProofSummary]:
    progress, requests = Progress(parameters.count), Requests(parameters, circuit, output)
    async with progress.words():
        return await closed_loop(
            parameters.count, parameters.concurrency, lambda index: _prove_one(requests[index], progress)
        )


async def _prove_one(request: ProofRequest, progress: Progress) -> ProofSummary:
    """One proof, and what came of it. What concerns all proofs, such as a budget too small, is raised."""
    started_s = time.monotonic()
    proof_id = engine.current().submit(request)
    progress.submitted(proof_id, request.name)
    try:
        result = await follow_proof(proof_id, request)
    except (ProofFailed, ProofCancelled) as error:
        progress.failed(proof_id, error)
        return ProofSummary(request.name, time.monotonic() - started_s, error=error)
    seconds = time.monotonic() - started_s
    progress.succeeded(proof_id, seconds)
    return ProofSummary(request.name, seconds, result.proof_paths)


def _row(proof: ProofSummary) -> dict[str, str]:
    """A row of the table in the UI."""
    return {
        "proof": proof.name,
        "state": "proved" if proof.error is None else str(proof.error),
        "seconds": f"{proof.seconds:.2f}",
        "files": ", ".join(str(path) for path in proof.proof_paths),
    }
