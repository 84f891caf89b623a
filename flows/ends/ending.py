"""How a flow that proves ends: in a state that says why, with a table of its proofs, whatever stops it."""

import asyncio
import time
from collections.abc import Coroutine
from typing import Any
from uuid import UUID

from prefect import State, get_run_logger
from prefect.context import TagsContext
from prefect.exceptions import Pause
from prefect.settings import PREFECT_API_URL
from prefect.states import Cancelled, Completed, Failed

from flows.display.artifacts import show_proofs
from flows.display.logs import leave_out_what_is_told
from flows.ends.cancelled_in_ui import Cancellation, cancelled_in_ui, reason
from flows.ends.signals import cancelled_by_signals, end_within_s
from flows.server.chosen import trouble
from flows.summary import BatchCancelled, BatchFailed, BatchSummary, says_it_all

SERVER_AWAY_AT_MOST_S = 60.0
LOOK_EVERY_S = 0.5


async def in_good_order(
    proving: Coroutine[Any, Any, BatchSummary], part_of: UUID | None = None
) -> State[BatchSummary]:
    """The state to end in: Completed, Failed with BatchFailed where a proof has failed, or Cancelled.

    part_of: a flow run without which this one is of no use; it is cancelled when that has ended.
    """
    state = await _ended(proving, part_of)
    await _server_answers()
    return state


async def _ended(proving: Coroutine[Any, Any, BatchSummary], part_of: UUID | None) -> State[BatchSummary]:
    leave_out_what_is_told()
    # The run's tags are not for its tasks: of each that has one, the server is asked whether it may start.
    with cancelled_by_signals(end_within_s()), TagsContext(current_tags=set()):
        try:
            async with cancelled_in_ui(part_of) as cancellation:
                summary = await proving
                if summary.failed:
                    raise BatchFailed(summary) from summary.failed[0].error
        except asyncio.CancelledError as error:
            try:
                return await _cancelled(await reason(cancellation, part_of), error)
            finally:  # and not before: until then another cancel, such as a worker's signal, is one too many
                if task := asyncio.current_task():
                    task.uncancel()
        except Exception as error:  # given to Prefect as a state, since it writes to disk what a flow raises
            get_run_logger().error("%s", error, exc_info=None if says_it_all(error) else error)
            return Failed(message=str(error), data=error)
    return Completed(message=summary.headline, data=summary)


async def _server_answers() -> None:
    """Wait for a server that is just started again: Prefect tells it once how a flow has ended, and a flow
    that it cannot tell of counts as crashed.
    """
    api_url, deadline_s = PREFECT_API_URL.value(), time.monotonic() + SERVER_AWAY_AT_MOST_S
    while api_url and time.monotonic() < deadline_s:
        if await asyncio.to_thread(trouble, api_url) is None:
            return
        await asyncio.sleep(LOOK_EVERY_S)


async def _cancelled(cancellation: Cancellation, error: asyncio.CancelledError) -> State[BatchSummary]:
    """Raises Pause for a flow run that was suspended: its state is to stay as it is."""
    words = [cancellation.why]
    if isinstance(error, BatchCancelled):  # else it had not begun
        words.append(f"{error.summary.proved} of {error.summary.count} proved")
        await show_proofs(error.summary)
    if cancellation.suspended is not None:
        get_run_logger().info("%s; Resume goes on with the rest", "; ".join(words))
        raise Pause(state=cancellation.suspended)
    if isinstance(error, BatchCancelled):
        words.append(f"for the rest start a run with Resume {error.summary.run_id}")
    return Cancelled(message="; ".join(words))
