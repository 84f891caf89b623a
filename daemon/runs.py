"""A daemon's jobs from their acceptance to their end, in its engine."""

import asyncio
import logging
from collections import Counter, deque
from dataclasses import replace
from datetime import UTC, datetime

from daemon import inputs
from daemon.circuits import Circuits
from daemon.errors import DaemonError
from daemon.installation import AGAIN_S, told, what_is_missing
from daemon.jobs import End, Job, State
from daemon.results import timings_of
from daemon.shelf import Shelf, Store
from engine import Engine, EngineError, ProofCancelled, ProofFailed, ProofRequest
from engine.ends import wording
from groth16.errors import InputError

log = logging.getLogger("cuzk.daemon")

ENDS_REMEMBERED = 32
KEPT = "kept for the next start"
CUT_SHORT = "cut short, and proved from its beginning after the next start"


class Runs:
    """A task for each job that has not ended; methods belong to the event loop's thread.

    `ended`: how many have, by state. `draining`: what is cut short is left to the next process.
    `missing`: what the program's own installation lacks, so that jobs wait; "" where it is whole.
    """

    def __init__(self, engine: Engine, circuits: Circuits, store: Store, shelf: Shelf) -> None:
        self.draining = False
        self.missing = ""
        self.ended: Counter[State] = Counter()
        self._engine, self._circuits, self._store, self._shelf = engine, circuits, store, shelf
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._last_ends_s: deque[float] = deque(maxlen=ENDS_REMEMBERED)

    def start(self, job: Job) -> None:
        """Have it proved."""
        task = self._tasks[job.id] = asyncio.create_task(self._run(job))
        task.add_done_callback(lambda _: self._tasks.pop(job.id, None))

    def cancel(self, job: Job) -> None:
        """End the job; nothing happens where it has ended."""
        if not job.is_open:
            return
        job.cancelled = True
        if job.proof_id is not None:
            self._engine.cancel(job.proof_id)
        elif running := self._tasks.get(job.id):
            running.cancel()

    def why(self, job: Job) -> list[str]:
        """A sentence for each partition: what it does or waits for."""
        if job.end is not None:
            ended_s = (datetime.now(UTC) - job.end.at).total_seconds()
            because = f": {job.end.error}" if job.end.error else ""
            return [f"{job.ask.title}: {job.state} {ended_s:.0f} s ago{because}"]
        if job.proof_id is None and self.missing:
            return [f"{job.ask.title}: waits, and is tried again: {told(self.missing)}"]
        if job.proof_id is None:
            return [
                f"{job.ask.title}: waits until its circuit is ready: key and kernels are made on first use"
            ]
        assert job.active is not None, "the engine has it"
        partitions = job.active.progress.partitions
        lines = [self._engine.explain(job.proof_id, index) for index in range(partitions)]
        return [f"{job.ask.title}{line.partition(job.proof_id)[2]}" for line in lines]

    def room_in_s(self, most: int) -> float:
        """When fewer than so many will be open, by how quickly jobs have ended of late."""
        ends = self._last_ends_s
        if len(ends) < 2:
            return 1.0
        one_s = (ends[-1] - ends[0]) / (len(ends) - 1)
        return min(max(one_s * (len(self._shelf.open_jobs) - most + 1), 0.05), 600.0)

    async def _run(self, job: Job) -> None:
        """From ready to its end, which is kept before anybody hears of it."""
        try:
            end = await self._prove_when_whole(job)
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

    async def _prove_when_whole(self, job: Job) -> End:
        """An installation that is not whole is no fault of the job, which waits until it is."""
        for attempt in range(1_000_000):
            try:
                end = await self._prove(job)
                self.missing = ""
                return end
            except Exception as error:
                if not (missing := what_is_missing(error)):
                    raise
                self._back_to_waiting(job, missing)
            await asyncio.sleep(AGAIN_S[min(attempt, len(AGAIN_S) - 1)])
        raise AssertionError("unreachable")

    def _back_to_waiting(self, job: Job, missing: str) -> None:
        if missing != self.missing:
            log.error("jobs wait: %s", told(missing))
        self.missing = missing
        if job.proof_id is not None:
            self._engine.forget(job.proof_id)
        job.proof_id, job.active, job.state = None, None, "accepted"

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
        self._shelf.has_ended(job)
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

    async def drain(self, within_s: float) -> None:
        """Wait for what is under way, and leave what waits to the next process."""
        self.draining = True
        for job in self._shelf.open_jobs:
            if job.state != "accepted" or job.cancelled:
                continue
            if job.proof_id is not None and not self._engine.has_ended(job.proof_id):
                self._engine.cancel(job.proof_id, KEPT)
            elif running := self._tasks.get(job.id):
                running.cancel()
        running_now = [task for task in self._tasks.values() if not task.done()]
        if running_now:
            await asyncio.wait(running_now, timeout=within_s)
        for job in self._shelf.open_jobs:
            if job.proof_id is not None and not self._engine.has_ended(job.proof_id):
                self._engine.cancel(job.proof_id, CUT_SHORT)
        for task in self._tasks.values():
            task.cancel()
        if kept := len(self._shelf.open_jobs):
            log.info("%d jobs are kept for the next start", kept)
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
