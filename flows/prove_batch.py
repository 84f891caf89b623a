"""The flow `prove_batch`: a batch of proofs of one circuit under the memory budget, kept in the history."""

from datetime import UTC, datetime

from prefect import State, flow, get_client
from prefect.context import FlowRunContext
from prefect.runtime import flow_run

from config import home
from flows.ends.closing import close_run
from flows.ends.ending import in_good_order
from flows.parameters.batch import BatchParameters
from flows.parameters.due import refuse_past
from flows.proving.real_batch import prove_for_real
from flows.simulated.batch import prove_on_a_model
from flows.spread.batch import prove_on_hosts
from flows.summary import BatchSummary


@flow(
    name="prove_batch",
    flow_run_name="{parameters.asked_title}",
    persist_result=False,
    result_storage=home() / "prefect" / "storage",  # or the server is asked for one, twice, and none is used
    on_cancellation=[close_run],
    on_crashed=[close_run],
)
async def prove_batch(parameters: BatchParameters) -> State[BatchSummary]:
    """Prove a circuit `count` times, `concurrency` at a time, within the memory budget.

    A proof that fails does not stop the others unless that is asked for; the flow ends with BatchFailed then.
    SIGTERM, Ctrl-C and a cancel in the UI end it: what it holds is freed, and its run in the history closed,
    before it ends.
    """
    return await in_good_order(_prove(parameters))


async def _prove(parameters: BatchParameters) -> BatchSummary:
    context = FlowRunContext.get()
    created = context and context.flow_run and context.flow_run.created
    refuse_past(parameters.due, (created or datetime.now(UTC)).astimezone())
    await _tag(parameters)
    if parameters.mode == "simulated":
        return await prove_on_a_model(parameters)
    return await (prove_on_hosts(parameters) if parameters.hosts else prove_for_real(parameters))


async def _tag(parameters: BatchParameters) -> None:
    """Let the run be found by circuit and machine in the UI, where it was not started with its tags."""
    tags = set(flow_run.tags or ())
    if flow_run.id is None or tags.issuperset(parameters.tags):
        return
    async with get_client() as client:
        await client.update_flow_run(flow_run.id, tags=tags | parameters.tags)
