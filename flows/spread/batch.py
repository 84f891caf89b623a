"""A batch on several hosts: opened here, proved by them, and kept in the history of this one."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from prefect import get_client, get_run_logger
from prefect.client.orchestration import PrefectClient
from prefect.runtime import flow_run

import engine
from config import Config
from db import find_run, new_id, open_history
from engine import CircuitSpec
from engine.compiling import compile_for_key
from engine.outputs import usual_folder
from flows.display.artifacts import show_proofs
from flows.display.late import marked_when_late
from flows.display.progress import tell, teller
from flows.ends.closing import close_dead
from flows.parameters.batch import BatchParameters, batch_config
from flows.parameters.due import due_at
from flows.parameters.requests import Requests
from flows.parameters.resume import keep
from flows.proving.again import taken_up_here
from flows.proving.real_batch import finished
from flows.spread.courier import Inbox, forward
from flows.spread.earlier import TakenOver, end_earlier, take
from flows.spread.hosts import check_hosts
from flows.spread.record import SpreadRecord, recorded
from flows.spread.share import ShareParameters
from flows.spread.spread import Spread, Wanted
from flows.summary import BatchCancelled, BatchSummary, Proofs


async def prove_on_hosts(parameters: BatchParameters) -> BatchSummary:
    """Prove the batch, or what is left of the one it resumes, on the hosts that it names.

    Here proofs are only checked and written. Raises ConfigError for a host that does not serve.
    """
    parameters = await taken_up_here(parameters)
    config = batch_config(parameters, get_run_logger().warning)
    circuit = await asyncio.to_thread(_prepared, parameters, config, teller())
    run_id = new_id()
    output = (parameters.output or usual_folder(run_id)).absolute()
    async with get_client() as client:
        await check_hosts(client, parameters.hosts)
        wanted = await _wanted(client, parameters, circuit, config, output, run_id)
        keep(parameters, output)
        with recorded(parameters, config, run_id, output, circuit.name, wanted) as record:
            closing = asyncio.create_task(close_dead(record.history))
            summary = await _proved(Spread(client, wanted, record.ended), record)
            await closing
    await show_proofs(summary)
    return summary


async def _proved(spread: Spread, record: SpreadRecord) -> BatchSummary:
    try:
        async with marked_when_late(spread.wanted.requests.due, spread.word):
            await spread.prove()
    except asyncio.CancelledError as error:
        raise BatchCancelled(replace(record.summary, proofs=Proofs(spread.proofs))) from error
    summary = replace(record.summary, proofs=Proofs(spread.proofs))
    record.close(summary)
    return summary


def _prepared(parameters: BatchParameters, config: Config, say: Callable[[str], None]) -> CircuitSpec:
    circuit = engine.resolve(parameters.circuit, config)
    engine.prepare(circuit, say)
    compile_for_key(circuit.zkey, say, "verify")
    return circuit


async def _wanted(
    client: PrefectClient,
    parameters: BatchParameters,
    circuit: CircuitSpec,
    config: Config,
    output: Path,
    run_id: str,
) -> Wanted:
    from engine.assembly import Assembly

    requests, partitions = Requests(parameters, circuit, output), parameters.partitions or circuit.partitions
    found = await finished(parameters, circuit.zkey, requests, partitions)
    assembly = await asyncio.to_thread(Assembly, circuit.zkey, partitions, requests.folder, run_id)
    taken, inbox = TakenOver(), Inbox(client, UUID(flow_run.id))
    if earlier := await asyncio.to_thread(_earlier, parameters, config):
        await end_earlier(client, earlier)
        await forward(client, earlier, UUID(flow_run.id))
        taken = await take(inbox, assembly, partitions, found)
        tell(f"{len(taken.whole)} more, and {len(taken.partitions)} partitions of others, were on their way")
    asked = ShareParameters(
        batch=_for_each(parameters, partitions),
        host="",
        partitions="",
        key=assembly.key_digest,
        batch_run=str(flow_run.id),
    )
    stop = parameters.on_failure == "stop"
    return Wanted(
        asked,
        parameters.hosts,
        requests,
        assembly,
        inbox,
        parameters.count,
        partitions,
        found | taken.whole,
        taken.partitions,
        stop,
    )


def _earlier(parameters: BatchParameters, config: Config) -> UUID | None:
    """The flow run of the run that is resumed."""
    if parameters.resume is None:
        return None
    with open_history(config.history_url(), spool=config.history_spool()) as history:
        flow_run_id = find_run(history, parameters.resume).flow_run_id
    return UUID(flow_run_id) if flow_run_id else None


def _for_each(parameters: BatchParameters, partitions: int) -> BatchParameters:
    """The batch as each host is told of it; what is submitted at a time there are partitions."""
    due = parameters.due and due_at(parameters.due, datetime.now().astimezone()).isoformat()
    at_a_time = -(-parameters.concurrency * partitions // len(parameters.hosts))
    own: dict[str, Any] = {"hosts": [], "output": None, "resume": None, "due": due, "concurrency": at_a_time}
    return parameters.model_copy(update={**own, "partitions": partitions})
