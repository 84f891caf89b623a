"""Many proofs as one task: of a large batch Prefect is to see hundreds of tasks, not tens of thousands."""

import asyncio

from prefect import State, get_run_logger, task
from prefect.states import Completed, Failed

from tasks.follow import OPTIONS, note_start


class Group:
    """Proofs in a row, by their numbers from 1. No dataclass: Prefect would walk its parts."""

    def __init__(self, circuit: str, first: int, last: int) -> None:
        self.name = f"{circuit} #{first}" if first == last else f"{circuit} #{first}–#{last}"
        self.count = last - first + 1
        self.open = self.count
        self.errors: list[str] = []
        self._ended = asyncio.Event()

    def end_one(self, error: Exception | None) -> None:
        """One of its proofs is made, or has failed for good."""
        self.open -= 1
        if error is not None:
            self.errors.append(str(error))
        if self.open <= 0:
            self._ended.set()

    def give_up(self) -> None:
        """No more of it will be made."""
        self._ended.set()

    async def wait(self) -> None:
        await self._ended.wait()


@task(task_run_name="prove {group.name}", **OPTIONS)
async def prove_group(group: Group) -> State:
    """Wait until all proofs of the group have ended; it fails where one of them has."""
    note_start()
    await group.wait()
    for error in group.errors:
        get_run_logger().error("%s", error)
    proved = group.count - group.open - len(group.errors)
    message = f"{proved} of {group.count} proved"
    if group.errors:
        return Failed(message=f"{message}; {group.errors[0]}")
    return Completed(message=message)
