"""The jobs of a daemon: each taken once and kept before anybody is told so."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from daemon import inputs
from daemon.circuits import Circuits
from daemon.errors import Conflict, QueueFull, Refused, Unavailable
from daemon.installation import told
from daemon.jobs import Ask, Job, PartitionFiles
from daemon.runs import Runs
from daemon.shelf import Shelf, Store
from daemon.waits import Waits
from db import JobThere
from engine import Engine


class Book:
    """Methods belong to the engine's event loop. `shelf` finds jobs, `runs` has them proved, `waits` counts
    who waits for them.

    `folder` holds the inputs of jobs. `queue_limit`: jobs that have not ended.
    """

    def __init__(
        self,
        engine: Engine,
        circuits: Circuits,
        store: Store,
        folder: Path,
        queue_limit: int,
        keep_results_s: float,
    ) -> None:
        self.queue_limit = queue_limit
        self.shelf = Shelf(store, keep_results_s)
        self.runs = Runs(engine, circuits, store, self.shelf)
        self.waits = Waits(self.runs.cancel)
        self._circuits, self._store, self._folder = circuits, store, folder
        self._keeping: dict[str, asyncio.Task[None]] = {}  # jobs that are being written down

    async def submit(self, ask: Ask, data: bytes | None) -> tuple[Job, bool]:
        """The job, kept for good, and whether it was there before. `data`: None for the circuit's own.

        Raises Refused, Conflict, QueueFull and Unavailable; then nothing is kept.
        """
        if not self._has_room and (known := await self.shelf.requested(ask.request_id)):
            return _same(known, ask), True  # which needs no room
        self._check_room()
        self._check_circuit(ask)
        suffix = "" if data is None else await self._suffix(ask, data)
        try:
            return await self._known_or_new(ask, data, suffix)
        except JobThere:
            if (known := await self.shelf.requested(ask.request_id)) is None:
                raise  # it was forgotten this very moment
            return _same(known, ask), True

    async def _known_or_new(self, ask: Ask, data: bytes | None, suffix: str) -> tuple[Job, bool]:
        if known := self.shelf.in_memory(ask.request_id):
            if keeping := self._keeping.get(known.id):
                await asyncio.shield(keeping)
            return _same(known, ask), True
        self._check_room()  # nobody comes between this and `put`
        job = Job(ask, None)
        if data is not None:
            job.input_path = self._folder / (job.id + suffix)
        self.shelf.put(job)
        keeping = self._keeping[job.id] = asyncio.create_task(self._keep(job, data))
        await asyncio.shield(keeping)
        return job, False

    @property
    def _has_room(self) -> bool:
        return not (self.runs.draining or self.runs.missing) and len(self.shelf.open_jobs) < self.queue_limit

    def _check_room(self) -> None:
        if self._has_room:
            return
        if self.runs.draining:
            raise Unavailable("the daemon takes no more jobs, it ends; try again once it has started anew")
        if self.runs.missing:
            raise Unavailable(f"the daemon takes no more jobs: {told(self.runs.missing)}")
        wait_s = self.runs.room_in_s(self.queue_limit)
        raise QueueFull(
            f"{len(self.shelf.open_jobs)} jobs wait or run, as many as daemon.queue_limit allows; "
            f"try again in {wait_s:.1f} s",
            wait_s,
        )

    def _check_circuit(self, ask: Ask) -> None:
        circuit = self._circuits.find(ask.circuit)
        self._circuits.check(ask.circuit, ask.partitions or circuit.partitions)

    async def _suffix(self, ask: Ask, data: bytes) -> str:
        """Of the file that the input becomes. Large ones are looked at beside the event loop."""
        circuit = self._circuits.find(ask.circuit)
        if len(data) <= inputs.SMALL_BYTES:
            return inputs.suffix_of(data, circuit)
        return await asyncio.to_thread(inputs.suffix_of, data, circuit)

    async def _keep(self, job: Job, data: bytes | None) -> None:
        """Write the job down, then run it; one that cannot be written is none."""
        try:
            if job.input_path is not None:
                assert data is not None, "a job with a file has something in it"
                await asyncio.to_thread(inputs.keep, job.input_path, data)
            await self._store.accept(job)
        except BaseException as error:
            self._drop(job)
            if isinstance(error, OSError):
                raise Unavailable(f"{self._folder}: cannot keep the job there ({error.strerror})") from error
            raise
        finally:
            del self._keeping[job.id]
        if not self.runs.draining:  # else the next process runs it
            self._start(job)

    def _drop(self, job: Job) -> None:
        self.shelf.remove(job)
        if job.input_path is not None:
            job.input_path.unlink(missing_ok=True)

    def _start(self, job: Job) -> None:
        self.waits.watch_lease(job)
        self.runs.start(job)

    def resume(self, jobs: Iterable[Job]) -> None:
        """Take jobs over that an earlier process accepted and did not end."""
        for job in jobs:
            self.shelf.put(job)
            self._start(job)

    def cancel_all(self) -> None:
        """End whatever has not ended."""
        for job in self.shelf.open_jobs:
            self.runs.cancel(job)

    async def files(self, job: Job) -> tuple[PartitionFiles, ...]:
        """What a job that is done has proved, from memory or from where it is kept."""
        assert job.end is not None, "a job with proofs has ended"
        return job.end.files or await self._store.files(job)

    async def delivered(self, job: Job) -> None:
        """A client has the job's result."""
        if not job.delivered:
            job.delivered = True
            await self._store.deliver(job)
            if job.stored and job.end is not None:
                job.end = replace(job.end, files=())  # from now on from where it is kept


def _same(known: Job, ask: Ask) -> Job:
    """The job of the same request, if it is of the same content."""
    if known.ask.digest != ask.digest:
        raise Conflict(
            f"request_id {ask.request_id!r} is that of job {known.id}, which proves something else; "
            "give each request an id of its own"
        )
    return known


def refuse_name(what: str, text: str, most: int = 200) -> str:
    """The text, if it is one that may stand in a log. Raises Refused."""
    if len(text) > most or not text.isprintable():
        raise Refused(f"{what}: expected at most {most} printable characters")
    return text
