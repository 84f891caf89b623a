"""The flow `prove_batch`: a batch of proofs of one circuit under the memory budget, kept in the history."""

import asyncio
import socket

from prefect import State, flow, get_client, get_run_logger
from prefect.context import TagsContext
from prefect.runtime import flow_run
from prefect.states import Cancelled, Completed, Failed

from flows.artifacts import show_proofs
from flows.batch import BatchParameters
from flows.cancelled_in_ui import cancelled_in_ui
from flows.closing import close_run
from flows.logs import leave_out_good_ends
from flows.modelled_batch import prove_on_a_model
from flows.real_batch import prove_for_real
from flows.signals import cancelled_by_signals
from flows.summary import BatchFailed, BatchSummary


@flow(
    name="prove_batch",
    flow_run_name="{parameters.title}",
    persist_result=False,
    on_cancellation=[close_run],
    on_crashed=[close_run],
)
async def prove_batch(parameters: BatchParameters) -> State[BatchSummary]:
    """Prove a circuit `count` times, `concurrency` at a time, within the memory budget.

    A proof that fails does not stop the others unless that is asked for; the flow ends with BatchFailed then.
    SIGTERM, Ctrl-C and a cancel in the UI end it: what it holds is freed, and its run in the history closed,
    before it ends.
    """
    leave_out_good_ends()
    # The run's tags are not for its tasks: of each that has one, the server is asked whether it may start.
    with cancelled_by_signals(), TagsContext(current_tags=set()):
        try:
            async with cancelled_in_ui() as cancellation:
                summary = await _prove(parameters)
        except asyncio.CancelledError:
            if task := asyncio.current_task():
                task.uncancel()  # the rest, telling Prefect, is not cancelled
            return Cancelled(message="cancelled in the UI" if cancellation.asked else "stopped by a signal")
        except Exception as error:  # given to Prefect as a state, since it writes to disk what a flow raises
            get_run_logger().error("%s", error, exc_info=error)
            return Failed(message=str(error), data=error)
    return Completed(message=summary.headline, data=summary)


async def _prove(parameters: BatchParameters) -> BatchSummary:
    """Raises BatchFailed where a proof has failed."""
    await _tag(parameters)
    prove = prove_on_a_model if parameters.mode == "simulated" else prove_for_real
    summary = await prove(parameters)
    await show_proofs(summary)
    if summary.failed:
        raise BatchFailed(summary) from summary.failed[0].error
    return summary


async def _tag(parameters: BatchParameters) -> None:
    """Let the run be found by circuit and machine in the UI."""
    if flow_run.id is None:
        return
    tags = {*(flow_run.tags or ()), parameters.circuit, socket.gethostname()}
    if parameters.mode == "simulated":
        tags.add("simulated")
    async with get_client() as client:
        await client.update_flow_run(flow_run.id, tags=tags)
