"""Which jobs are in memory, and which are found where they are kept."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from daemon import shelf as shelves
from daemon.errors import UnknownJob
from daemon.jobs import Ask, End, Job
from daemon.shelf import Shelf

AGO = timedelta(seconds=shelves.IN_MEMORY_S + 1)


class Kept:
    """A store that has what the test puts there; `looked` is set each time it is told to forget."""

    def __init__(self) -> None:
        self.jobs: dict[str, Job] = {}
        self.looked = asyncio.Event()

    async def find(self, job_id: str) -> Job | None:
        return self.jobs.get(job_id)

    async def requested(self, request_id: str) -> Job | None:
        return next((job for job in self.jobs.values() if job.ask.request_id == request_id), None)

    async def forget(self, before: datetime, **_: bool) -> None:
        self.jobs = {job_id: job for job_id, job in self.jobs.items() if job.end and job.end.at >= before}
        self.looked.set()


def ended(shelf: Shelf, store: Kept, name: str, ago: timedelta = AGO, stored: bool = True) -> Job:
    job = Job(Ask("c", request_id=name), None)
    shelf.put(job)
    job.end, job.stored = End("done", at=datetime.now(UTC) - ago), stored
    if stored:
        store.jobs[job.id] = job
    shelf.has_ended(job)
    return job


async def tidied(shelf: Shelf, store: Kept) -> None:
    """Until it has looked twice: the first look is done by then."""
    task = asyncio.create_task(shelf.tidy_up())
    for _ in range(2):
        store.looked.clear()
        await store.looked.wait()
    task.cancel()


@pytest.fixture(autouse=True)
def _looks_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelves, "LOOK_EVERY_S", 0.0)


def test_what_ended_a_while_ago_is_in_the_store_alone() -> None:
    async def live() -> None:
        store = Kept()
        shelf = Shelf(store, 3600.0)  # type: ignore[arg-type]  # no job is accepted here
        old = [ended(shelf, store, f"old {number}") for number in range(20)]
        waited_for, lost = ended(shelf, store, "waited for"), ended(shelf, store, "lost", stored=False)
        waited_for.watchers = 1
        young, still_open = ended(shelf, store, "young", timedelta()), Job(Ask("c", request_id="open"), None)
        shelf.put(still_open)
        await tidied(shelf, store)
        assert len(shelf) == 4
        assert [shelf.in_memory(job.ask.request_id) for job in old] == [None] * 20
        for job in (waited_for, lost, young, still_open, old[0]):
            assert await shelf.find(job.id) is job
            assert await shelf.requested(job.ask.request_id) is job
        waited_for.watchers = 0
        await tidied(shelf, store)
        assert len(shelf) == 3

    asyncio.run(live())


def test_old_results_are_nowhere_whatever_became_of_them() -> None:
    async def live() -> None:
        store = Kept()
        shelf = Shelf(store, 3600.0)  # type: ignore[arg-type]  # as above
        day = timedelta(days=1)
        jobs = [ended(shelf, store, "old", day), ended(shelf, store, "lost", day, stored=False)]
        await tidied(shelf, store)
        assert len(shelf) == 0
        for job in jobs:
            with pytest.raises(UnknownJob, match="results are kept 3600 s"):
                await shelf.find(job.id)

    asyncio.run(live())
