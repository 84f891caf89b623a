"""Where a daemon's jobs are found: those of now in memory, those that ended a while ago in the store."""

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Protocol

from daemon.errors import UnknownJob
from daemon.jobs import Job, PartitionFiles, State

LOOK_EVERY_S = 5.0
IN_MEMORY_S = 10.0  # after the end; who asks later is answered from the store


class Store(Protocol):
    """Where jobs outlive the process; each call returns once that is so. Raises HistoryError."""

    async def accept(self, job: Job) -> None: ...
    async def end(self, job: Job) -> None: ...
    async def deliver(self, job: Job) -> None: ...
    async def files(self, job: Job) -> tuple[PartitionFiles, ...]: ...
    async def find(self, job_id: str) -> Job | None: ...
    async def requested(self, request_id: str) -> Job | None: ...
    async def forget(self, before: datetime, also_undelivered: bool) -> None: ...


class Shelf:
    """Jobs by id and by request id; methods belong to the event loop's thread.

    A job that has ended leaves memory soon, once its end is stored and nobody waits for it any more: what a
    daemon holds does not grow with what it has proved, however long results are kept.
    """

    def __init__(self, store: Store, keep_results_s: float) -> None:
        self.keep_results_s = keep_results_s
        self._store = store
        self._since = datetime.now(UTC)
        self._jobs: dict[str, Job] = {}
        self._open: dict[str, Job] = {}
        self._ended: dict[str, Job] = {}  # in the order of their ends
        self._by_request: dict[str, Job] = {}

    def put(self, job: Job) -> None:
        """A job that has not ended."""
        self._jobs[job.id] = self._open[job.id] = job
        if job.ask.request_id:
            self._by_request[job.ask.request_id] = job

    def has_ended(self, job: Job) -> None:
        """It is no more among the open ones."""
        self._ended[job.id] = self._open.pop(job.id)

    def remove(self, job: Job) -> None:
        """Keep nothing of it in memory."""
        for jobs in (self._jobs, self._open, self._ended):
            jobs.pop(job.id, None)
        if self._by_request.get(job.ask.request_id) is job:
            del self._by_request[job.ask.request_id]

    async def find(self, job_id: str) -> Job:
        """Raises UnknownJob, and HistoryError where it cannot be looked up."""
        job = self._jobs.get(job_id) or await self._store.find(job_id)
        if job is None:
            raise UnknownJob(f"job {job_id!r} is not known here; results are kept {self.keep_results_s:g} s")
        return job

    def in_memory(self, request_id: str) -> Job | None:
        """The job of that request, unless it ended a while ago."""
        return self._by_request.get(request_id)

    async def requested(self, request_id: str) -> Job | None:
        """The job of that request. Raises HistoryError where it cannot be looked up."""
        if not request_id:
            return None
        return self.in_memory(request_id) or await self._store.requested(request_id)

    @property
    def open_jobs(self) -> list[Job]:
        """Those that have not ended, the oldest first."""
        return list(self._open.values())

    def __len__(self) -> int:
        """How many are in memory."""
        return len(self._jobs)

    def count(self, state: State) -> int:
        """How many are in that state, which is one before the end."""
        return sum(job.state == state for job in self._open.values())

    def position(self, job: Job) -> int:
        """How many jobs that wait were accepted before it."""
        if job.state != "accepted":
            return 0
        return sum(each.state == "accepted" and each.id < job.id for each in self._open.values())

    async def tidy_up(self) -> None:
        """From now on, let go of what has ended: soon from memory, and for good once results are old."""
        while True:
            await asyncio.sleep(min(LOOK_EVERY_S, max(self.keep_results_s / 4, 0.05)))
            now = datetime.now(UTC)
            kept_since = now - timedelta(seconds=self.keep_results_s)
            self._let_go(self._ended.values(), max(now - timedelta(seconds=IN_MEMORY_S), kept_since))
            # A result that nobody has had counts from the start: they could not ask while nobody was here.
            await self._store.forget(kept_since, also_undelivered=self._since < kept_since)
            self._let_go(self._ended.values(), kept_since, forgotten=True)

    async def forget_all(self) -> None:
        """Keep nothing of what has ended, delivered or not."""
        await self._store.forget(datetime.now(UTC) + timedelta(days=1), also_undelivered=True)

    def _let_go(self, ended: Iterable[Job], before: datetime, forgotten: bool = False) -> None:
        for job in list(ended):
            assert job.end is not None, "it is among those that have ended"
            if job.end.at < before and (forgotten or (job.stored and not job.watchers)):
                self.remove(job)
