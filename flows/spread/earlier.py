"""What the run that a batch resumes has left on the hosts: it is ended, and what they had made is taken over.

A batch's process that was killed tells nobody. Its shares go on until the server counts its run as crashed,
and what they send waits there, and so does what it had read of proofs that were not whole.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID

from prefect.client.orchestration import PrefectClient
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterId,
    FlowRunFilterParentFlowRunId,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import FlowRun, State, StateType
from prefect.exceptions import ObjectNotFound
from prefect.runtime import flow_run
from prefect.states import Cancelled, Crashed

from flows.display.progress import tell
from flows.ends.ended_runs import close_open_tasks
from flows.ends.left_open import OPEN
from flows.spread.courier import Inbox

if TYPE_CHECKING:
    from engine.assembly import Assembly, Made  # it loads the compiler

LOOK_EVERY_S = 1.0
ENDED_WITHIN_S = 30.0
"""A share looks every second whether its batch goes on, and then frees what it holds."""


@dataclass
class TakenOver:
    """Proofs that are whole now, by index, and partitions of others that are there, by number."""

    whole: set[int] = field(default_factory=set)
    partitions: set[int] = field(default_factory=set)


async def end_earlier(client: PrefectClient, run_id: UUID) -> None:
    """End the run, whose process has died, and its shares; waits until they have, though not for ever.

    Of the flow run of the call, which somebody has retried, only the shares.
    """
    goes_on = flow_run.id == str(run_id)
    try:
        state = (await client.read_flow_run(run_id)).state
    except ObjectNotFound:  # it was shown by another server
        return
    if not goes_on and (state is None or not state.is_final()):
        crashed: State[None] = Crashed(message="its process has died")
        await client.set_flow_run_state(run_id, crashed, force=True)
    deadline_s = time.monotonic() + ENDED_WITHIN_S
    while shares := await _open_shares(client, run_id):
        for share in shares:
            if share.state is not None and share.state.type == StateType.SCHEDULED:
                await client.set_flow_run_state(share.id, Cancelled(message="its batch has ended"))
        if time.monotonic() > deadline_s:
            tell(f"{len(shares)} shares of the resumed run have not ended, and may still take memory")
            break
        await asyncio.sleep(LOOK_EVERY_S)
    if not goes_on:
        await close_open_tasks(client, FlowRunFilter(id=FlowRunFilterId(any_=[run_id])))


async def _open_shares(client: PrefectClient, run_id: UUID) -> list[FlowRun]:
    state = FlowRunFilterState(type=FlowRunFilterStateType(any_=[StateType(each) for each in OPEN]))
    parent = FlowRunFilterParentFlowRunId(any_=[run_id])
    return await client.read_flow_runs(flow_run_filter=FlowRunFilter(parent_flow_run_id=parent, state=state))


async def take(inbox: Inbox, assembly: Assembly, partitions: int, found: set[int]) -> TakenOver:
    """What has come, but of the proofs that were found; checked by pairing."""
    taken = TakenOver()
    async for parcel in inbox.received():
        made = _of_others(parcel.made, partitions, found | taken.whole)
        now = await asyncio.to_thread(assembly.take, made)
        taken.partitions |= made.keys() - now.refused.keys()
        taken.whole.update(now.whole)
    taken.partitions = {each for each in taken.partitions if each // partitions not in taken.whole}
    return taken


def _of_others(made: Mapping[int, Made], partitions: int, found: set[int]) -> dict[int, Made]:
    return {number: files for number, files in made.items() if number // partitions not in found}
