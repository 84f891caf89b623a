"""The flow `prove_batch`: a batch of proofs of one circuit under the memory budget, kept in the history."""

import asyncio
import socket

from prefect import State, flow, get_client, get_run_logger
from prefect.runtime import flow_run
from prefect.states import Cancelled, Completed, Failed

from flows.artifacts import show_proofs
from flows.batch import BatchParameters
from flows.logs import leave_out_good_ends
from flows.real_batch import prove_for_real
from flows.signals import cancelled_by_signals
from flows.summary import BatchFailed, BatchSummary


@flow(name="prove_batch", flow_run_name="{parameters.title}", persist_result=False)
async def prove_batch(parameters: BatchParameters) -> State[BatchSummary]:
    """Prove a circuit `count` times, `concurrency` at a time, within the memory budget.

    A proof that fails does not stop the others unless that is asked for; the flow ends with BatchFailed then.
    SIGTERM and Ctrl-C cancel it: what it holds is freed, and its run in the history closed, before it ends.
    """
    with cancelled_by_signals():
        try:
            leave_out_good_ends()
            await _tag(parameters)
            summary = await prove_for_real(parameters)
            await show_proofs(summary)
            if summary.failed:
                raise BatchFailed(summary) from summary.failed[0].error
        except asyncio.CancelledError:
            if task := asyncio.current_task():
                task.uncancel()  # the rest, telling Prefect, is not cancelled
            return Cancelled(message="stopped by a signal")
        except Exception as error:  # given to Prefect as a state, since it writes to disk what a flow raises
            get_run_logger().error("%s", error, exc_info=error)
            return Failed(message=str(error), data=error)
    return Completed(message=summary.headline, data=summary)


async def _tag(parameters: BatchParameters) -> None:
    """Let the run be found by circuit and machine in the UI."""
    if flow_run.id is None:
        return
    tags = {*(flow_run.tags or ()), parameters.circuit, socket.gethostname()}
    async with get_client() as client:
        await client.update_flow_run(flow_run.id, tags=tags)
