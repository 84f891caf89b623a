"""Many proofs as one task: what a task shows is to be worth what it costs, 20 ms of processor time."""

import asyncio
import time
from contextlib import suppress

from prefect import State, get_run_logger, task
from prefect.states import Cancelled, Completed, Failed

from engine import ProofCancelled
from tasks.follow import OPTIONS, note_start
from tasks.real_times import show_real_times


class Group:
    """So many proofs in a row. No dataclass: Prefect would walk its parts."""

    def __init__(self, name: str, count: int) -> None:
        self.name = name
        self.count = self.left = count
        self.errors: list[str] = []
        self.cancelled = 0
        self._under_way: dict[str, tuple[str, float]] = {}  # by proof id: its name, and when it was submitted
        self._ended = asyncio.Event()
        self._begun_s: float | None = None

    def begin_one(self, proof_id: str, name: str) -> None:
        """One of its proofs is submitted."""
        now_s = time.monotonic()
        self._begun_s = now_s if self._begun_s is None else self._begun_s
        self._under_way[proof_id] = (name, now_s)

    def end_one(self, proof_id: str | None, error: Exception | None) -> None:
        """One of its proofs is made, or has failed for good; None: it was there before."""
        self._under_way.pop(proof_id or "", None)
        self.left -= 1
        if isinstance(error, ProofCancelled):
            self.cancelled += 1
        elif error is not None:
            self.errors.append(str(error))
        if self.left <= 0:
            self._ended.set()

    def give_up(self) -> None:
        """No more of it will be made."""
        self._ended.set()

    def under_way(self, for_s: float) -> list[tuple[str, str]]:
        """Id and name of the proofs that were submitted so long ago, the oldest first."""
        until_s = time.monotonic() - for_s
        return [
            (proof_id, name) for proof_id, (name, since_s) in self._under_way.items() if since_s <= until_s
        ]

    def times_s(self) -> tuple[float, float] | None:
        """For how many seconds it has been under way, and 0, as its end is now."""
        return None if self._begun_s is None else (time.monotonic() - self._begun_s, 0.0)

    async def wait(self) -> None:
        await self._ended.wait()

    async def ends_within(self, seconds: float) -> bool:
        """Whether it has ended; back after so long at most."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), seconds)
        return self._ended.is_set()


@task(task_run_name="prove {group.name}", **OPTIONS)
async def prove_group(group: Group) -> State:
    """Wait until all proofs of the group have ended; it fails where one of them has failed, and is cancelled
    where one was, or where it was given up.
    """
    note_start()
    await group.wait()
    show_real_times(group.times_s())
    for error in group.errors:
        get_run_logger().error("%s", error)
    proved = group.count - group.left - group.cancelled - len(group.errors)
    message = f"{proved} of {group.count} proved"
    if group.errors:
        return Failed(message=f"{message}, {len(group.errors)} failed; {group.errors[0]}")
    return Completed(message=message) if proved == group.count else Cancelled(message=message)
