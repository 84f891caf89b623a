"""The jobs of a daemon: taken once, kept until their results are old, run by the engine."""

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

from daemon import inputs
from daemon.circuits import Circuits
from daemon.errors import Conflict, DaemonError, NotConfigured, QueueFull, Refused, Unavailable, UnknownJob
from daemon.jobs import Ask, End, Job, State
from daemon.results import timings_of
from engine import Engine, EngineError, ProofCancelled, ProofFailed, ProofRequest
from engine.ends import wording
from groth16.errors import InputError

log = logging.getLogger("cuzk.daemon")

ENDS_REMEMBERED = 32
LOOK_EVERY_S = 5.0


class Store(Protocol):
    """Where jobs outlive the process; each call returns once that is so. Raises HistoryError."""

    async def accept(self, job: Job) -> None: ...
    async def end(self, job: Job) -> None: ...
    async def deliver(self, job: Job) -> None: ...
    async def files(self, job: Job) -> tuple[tuple[bytes, bytes], ...]: ...
    async def forget(self, job_ids: list[str]) -> None: ...


class Book:
    """Jobs by id and by request id; methods belong to the engine's event loop.

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
        self.queue_limit, self.keep_results_s = queue_limit, keep_results_s
        self.draining = False
        self.ended: Counter[State] = Counter()
        self._engine, self._circuits, self._store, self._folder = engine, circuits, store, folder
        self._jobs: dict[str, Job] = {}
        self._open: dict[str, Job] = {}
        self._by_request: dict[str, Job] = {}
        self._keeping: dict[str, asyncio.Task[None]] = {}  # jobs that are being written down
        self._running: dict[str, asyncio.Task[None]] = {}
        self._last_ends_s: deque[float] = deque(maxlen=ENDS_REMEMBERED)

    async def submit(self, ask: Ask, data: bytes | None) -> tuple[Job, bool]:
        """The job, kept for good, and whether it was there before. `data`: None for the circuit's own.

        Raises Refused, Conflict, QueueFull and Unavailable; then nothing is kept.
        """
        self._check_room(ask)
        self._check_circuit(ask)
        suffix = "" if data is None else await self._suffix(ask, data)
        if known := self._by_request.get(ask.request_id) if ask.request_id else None:
            if known.ask.digest != ask.digest:
                raise Conflict(
                    f"request_id {ask.request_id!r} is that of job {known.id}, which proves something else; "
                    "give each request an id of its own"
                )
            if keeping := self._keeping.get(known.id):
                await asyncio.shield(keeping)
            return known, True
        self._check_room(ask)  # nobody came between this and `_enter`
        job = Job(ask, None)
        if data is not None:
            job.input_path = self._folder / (job.id + suffix)
        self._enter(job)
        keeping = self._keeping[job.id] = asyncio.create_task(self._keep(job, data))
        await asyncio.shield(keeping)
        return job, False

    def _check_room(self, ask: Ask) -> None:
        """Raise where no new job is taken; one that is known already needs no room."""
        if ask.request_id and ask.request_id in self._by_request:
            return
        if self.draining:
            raise Unavailable("the daemon takes no more jobs, it ends; try again once it has started anew")
        if len(self._open) >= self.queue_limit:
            wait_s = self.retry_after_s()
            raise QueueFull(
                f"{len(self._open)} jobs wait or run, as many as daemon.queue_limit allows; "
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
        if not self.draining:  # else the next process runs it
            self._start(job)

    def resume(self, jobs: Iterable[Job]) -> None:
        """Take jobs over that an earlier process accepted."""
        for job in jobs:
            self._enter(job)
            if job.is_open:
                self._start(job)

    def find(self, job_id: str) -> Job:
        """Raises UnknownJob."""
        if job_id not in self._jobs:
            raise UnknownJob(f"job {job_id!r} is not known here; results are kept {self.keep_results_s:g} s")
        return self._jobs[job_id]

    async def wait(self, job: Job, timeout_s: float | None) -> bool:
        """Whether the job has ended, after that time at most. Who waits holds the job's lease."""
        job.watchers += 1
        try:
            async with asyncio.timeout(timeout_s):
                await job.ended.wait()
        except TimeoutError:
            return False
        finally:
            self.left(job)
        return True

    async def wait_for_end(self, job: Job) -> None:
        """Return once the job is done. Raises Refused where it ends in another way."""
        await self.wait(job, None)
        if job.state != "done":
            raise NotConfigured(job.end.error if job.end else job.state)

    def left(self, job: Job) -> None:
        """One who waited for the job does so no more."""
        job.watchers -= 1
        self._watch_lease(job)

    def _watch_lease(self, job: Job) -> None:
        if job.ask.lease_s and not job.watchers and job.is_open:
            asyncio.get_running_loop().call_later(job.ask.lease_s, self._end_lease, job, job.age_s)

    def _end_lease(self, job: Job, since_s: float) -> None:
        if not job.watchers and job.is_open and job.age_s - since_s >= job.ask.lease_s * 0.99:
            log.info("job %s: nobody has waited for it for %g s", job.id, job.ask.lease_s)
            self.cancel(job)

    def cancel(self, job: Job) -> None:
        """End the job; nothing happens where it has ended."""
        if not job.is_open:
            return
        job.cancelled = True
        if job.proof_id is not None:
            self._engine.cancel(job.proof_id)
        elif running := self._running.get(job.id):
            running.cancel()

    async def files(self, job: Job) -> tuple[tuple[bytes, bytes], ...]:
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

    def why(self, job: Job) -> list[str]:
        """A sentence for each partition: what it does or waits for."""
        if job.end is not None:
            ended_s = (datetime.now(UTC) - job.end.at).total_seconds()
            return [f"{job.ask.title}: {job.state} {ended_s:.0f} s ago" + _because(job.end)]
        if job.proof_id is None:
            return [
                f"{job.ask.title}: waits until its circuit is ready: key and kernels are made on first use"
            ]
        partitions = job.ask.partitions or self._circuits.find(job.ask.circuit).partitions
        lines = [self._engine.explain(job.proof_id, index) for index in range(partitions)]
        return [f"{job.ask.title}{line.partition(job.proof_id)[2]}" for line in lines]

    @property
    def jobs(self) -> list[Job]:
        """Those that have not ended, the oldest first."""
        return list(self._open.values())

    def position(self, job: Job) -> int:
        """How many jobs that wait were accepted before it."""
        if job.state != "accepted":
            return 0
        return sum(each.state == "accepted" and each.id < job.id for each in self._open.values())

    def count(self, state: State) -> int:
        """How many are in that state, which is one before the end."""
        return sum(job.state == state for job in self._open.values())

    def retry_after_s(self) -> float:
        """When there will be room, by how quickly jobs have ended of late."""
        ends = self._last_ends_s
        if len(ends) < 2:
            return 1.0
        one_s = (ends[-1] - ends[0]) / (len(ends) - 1)
        return min(max(one_s * (len(self._open) - self.queue_limit + 1), 0.05), 600.0)

    def _enter(self, job: Job) -> None:
        self._jobs[job.id] = job
        if job.ask.request_id:
            self._by_request[job.ask.request_id] = job
        if job.is_open:
            self._open[job.id] = job

    def _drop(self, job: Job) -> None:
        self._jobs.pop(job.id, None)
        self._open.pop(job.id, None)
        if job.ask.request_id:
            self._by_request.pop(job.ask.request_id, None)
        if job.input_path is not None:
            job.input_path.unlink(missing_ok=True)

    def _start(self, job: Job) -> None:
        self._watch_lease(job)
        task = self._running[job.id] = asyncio.create_task(self._run(job))
        task.add_done_callback(lambda _: self._running.pop(job.id, None))

    async def _run(self, job: Job) -> None:
        """From ready to its end, which is kept before anybody hears of it."""
        try:
            end = await self._prove(job)
        except (ProofCancelled, asyncio.CancelledError):
            if self.draining and not job.cancelled:
                return  # the next process runs it again
            end = End("cancelled", "cancelled", timings=timings_of(job))
        except (ProofFailed, EngineError, InputError, DaemonError) as error:
            end = End("failed", str(error), timings=timings_of(job))
        except Exception as error:
            log.exception("job %s has failed by a mistake of this program", job.id)
            end = End("failed", wording(error), timings=timings_of(job))
        await self._finish(job, end)

    async def _prove(self, job: Job) -> End:
        if job.cancelled:
            raise ProofCancelled("cancelled")
        circuit = await self._circuits.ready(job.ask.circuit)
        request = ProofRequest(
            inputs.with_input(circuit, job.input_path),
            job.ask.title,
            None,
            job.ask.partitions or circuit.partitions,
            job.ask.priority,
            job.ask.due,
            job.ask.until,
        )
        proof_id = job.proof_id = self._engine.submit(request)
        job.active, job.given_s = self._engine.active(proof_id), job.age_s
        await self._engine.wait_started(proof_id, "load")
        job.state = "running"
        result = await self._engine.result(proof_id)
        return End("done", files=result.contents, timings=timings_of(job))

    async def _finish(self, job: Job, end: End) -> None:
        if job.input_path is not None:  # which says nothing to a client
            end = replace(end, error=end.error.replace(str(job.input_path), "the input"))
        job.end, job.state = end, end.state
        try:
            await self._store.end(job)
            job.stored = True
        except Exception:
            log.exception("job %s: its end cannot be kept", job.id)  # who waits for it still hears of it
        self._open.pop(job.id, None)
        self.ended[end.state] += 1
        self._last_ends_s.append(asyncio.get_running_loop().time())
        job.ended.set()
        if not job.watchers:
            job.active = None
        if job.proof_id is not None:
            self._engine.forget(job.proof_id)
        if job.input_path is not None:  # a secret, and of no use any more
            await asyncio.to_thread(job.input_path.unlink, missing_ok=True)
        if end.error:
            log.info("job %s: %s", job.id, end.state)

    async def forget_old(self) -> None:
        """From now on, forget results that were kept for their time."""
        while True:
            await asyncio.sleep(min(LOOK_EVERY_S, max(self.keep_results_s / 4, 0.05)))
            since = datetime.now(UTC) - timedelta(seconds=self.keep_results_s)
            old = [job for job in self._jobs.values() if job.end is not None and job.end.at < since]
            if old:
                await self._store.forget([job.id for job in old])
            for job in old:
                self._drop(job)

    async def drain(self, within_s: float) -> None:
        """Take nothing more, wait for what is under way, and leave what waits to the next process."""
        self.draining = True
        waiting = [job for job in self.jobs if job.state == "accepted"]
        for job in waiting:
            if job.proof_id is not None and not self._engine.has_ended(job.proof_id):
                self._engine.cancel(job.proof_id)
            elif running := self._running.get(job.id):
                running.cancel()
        running_now = [task for task in self._running.values() if not task.done()]
        if running_now:
            await asyncio.wait(running_now, timeout=within_s)
        for task in self._running.values():
            task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)


def _because(end: End) -> str:
    return f": {end.error}" if end.error else ""


def refuse_name(what: str, text: str, most: int = 200) -> str:
    """The text, if it is one that may stand in a log. Raises Refused."""
    if len(text) > most or not text.isprintable():
        raise Refused(f"{what}: expected at most {most} printable characters")
    return text
