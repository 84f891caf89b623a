"""Jobs of a daemon that this run has submitted: followed to their ends, or cancelled with the run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from bench.asked import Asked
from bench.outcome import WORK, Outcome
from daemon.client import Client
from daemon.errors import DaemonError, QueueFull
from daemon.proto.cuzk.v1 import proving_pb2
from daemon.proto.cuzk_py.v1 import circuits_pb2 as pb

Say = Callable[[str], None]

LEASE_S = 60.0  # jobs of a bench that was killed end by themselves
CANCEL_WITHIN_S = 3.0
MOST_WATCHED = 64  # at a time, stage by stage; of more only the ends are known, or telling would be the work
_STAGES = {pb.LOAD: "load", pb.SYNTHESIZE: "synthesize", pb.PROVE: "prove", pb.VERIFY: "verify"}


@dataclass
class Jobs:
    """Follows jobs; `now_s`: on the run's clock. word_s: when anything last got on, by the same clock."""

    client: Client
    run_id: str
    now_s: Callable[[], float]
    say: Say
    open: dict[str, Outcome] = field(default_factory=dict)
    word_s: float = 0.0
    accepted: int = 0
    watched: int = 0
    asking: int = 0  # submits that the daemon has not answered
    waiting: str = ""  # what the daemon said last that a job waits for

    async def prove(self, asked: Asked, number: int) -> Outcome:
        """Submit, and follow to the end.

        Raises DaemonError where the daemon takes not even the first; later it is that proof's failure.
        """
        outcome = Outcome(number, asked.circuit, self.now_s())
        self.asking += 1
        try:
            job_id = await self._submitted(asked, outcome)
        except DaemonError as error:
            if not self.accepted:
                raise
            outcome.state, outcome.error, outcome.ended_s = "failed", str(error), self.now_s()
            return outcome
        finally:
            self.asking -= 1
        self.accepted += 1
        outcome.job_id, outcome.accepted_s = job_id, self.now_s()
        self.open[job_id] = outcome
        self._word()
        try:
            if self.client.version is None:
                await self._await_public(outcome)
            elif self.watched < MOST_WATCHED:
                await self._follow(outcome)
            else:
                _conclude(outcome, await self.client.result(job_id))
        except DaemonError as error:
            outcome.state, outcome.error = "failed", str(error)
        outcome.ended_s = self.now_s()
        del self.open[job_id]
        self._word()
        return outcome

    async def cancel_all(self) -> int:
        """Cancel what is open, and wait a moment for the answers; returns how many were cancelled."""
        ids = list(self.open)
        cancelling = [asyncio.ensure_future(self._cancel(job_id)) for job_id in ids]
        if cancelling:
            await asyncio.wait(cancelling, timeout=CANCEL_WITHIN_S)
        done = 0
        for job_id, each in zip(ids, cancelling, strict=True):
            each.cancel()
            outcome = self.open.pop(job_id)
            outcome.state, outcome.ended_s = "cancelled", self.now_s()
            done += each.done() and not each.cancelled() and each.exception() is None
        if ids:
            left = "" if done == len(ids) else f"; of {len(ids) - done} the daemon has not said so"
            self.say(f"cancelled {done} of {len(ids)} open proofs{left}")
        return done

    async def _submitted(self, asked: Asked, outcome: Outcome) -> str:
        """The job's id, also where this task is cancelled meanwhile: what was accepted must be known."""
        submitting = asyncio.ensure_future(self._submit(asked, outcome))
        try:
            return await asyncio.shield(submitting)
        except asyncio.CancelledError:
            await asyncio.wait([submitting], timeout=CANCEL_WITHIN_S / 2)
            if submitting.done() and not submitting.cancelled() and submitting.exception() is None:
                self.open[submitting.result()] = outcome
            submitting.cancel()
            raise

    async def _submit(self, asked: Asked, outcome: Outcome) -> str:
        request_id = f"{self.run_id}:{outcome.number}"
        while True:
            try:
                if asked.public is not None:
                    return await self._submit_public(asked.public, request_id)
                named = {"request_id": request_id, "lease_s": LEASE_S, "name": outcome.name}
                return await self.client.submit(asked.circuit, **asked.options, **named)
            except QueueFull as full:
                self._word()
                await asyncio.sleep(full.retry_after_s)

    async def _submit_public(self, public: proving_pb2.SubmitProofRequest, request_id: str) -> str:
        request = proving_pb2.SubmitProofRequest()
        request.CopyFrom(public)
        request.request_id = request_id
        return str((await self.client.submit_public(request)).job_id)

    async def _follow(self, outcome: Outcome) -> None:
        assert outcome.accepted_s is not None, "it was accepted"
        result = None
        self.watched += 1
        try:
            async for event in self.client.watch(outcome.job_id):
                if event.stage in _STAGES:
                    self._word()
                    mark = outcome.finish if event.finished else outcome.begin
                    mark(event.partition, _STAGES[event.stage], outcome.accepted_s + event.at_s)
                    if event.device:
                        outcome.devices[event.partition] = event.device
                elif event.detail:
                    self.waiting = event.detail.partition("; ")[0]
                if event.HasField("result"):
                    result = event.result
        finally:
            self.watched -= 1
        if result is None:
            result = await self.client.result(outcome.job_id)
        _conclude(outcome, result)
        outcome.accepted_by(self.now_s() - result.timings.total_s)

    async def _await_public(self, outcome: Outcome) -> None:
        result = await self.client.await_public(outcome.job_id)
        statuses = proving_pb2.AwaitProofResponse
        outcome.error = result.error_message
        outcome.state = {statuses.COMPLETED: "succeeded", statuses.CANCELLED: "cancelled"}.get(  # type: ignore[assignment]  # all are states
            result.status, "failed"
        )
        outcome.timings = {
            "queue": result.queue_wait_ms / 1000,
            "load": result.srs_load_ms / 1000,
            "synthesize": result.synthesis_ms / 1000,
            "prove": result.gpu_compute_ms / 1000,
        }

    async def _cancel(self, job_id: str) -> None:
        if self.client.version is not None:
            await self.client.cancel(job_id)
        else:
            await self.client.cancel_public(job_id)

    def _word(self) -> None:
        self.word_s = self.now_s()


def _conclude(outcome: Outcome, result: pb.JobResult) -> None:
    states = {pb.DONE: "succeeded", pb.CANCELLED: "cancelled"}
    outcome.state = states.get(result.state, "failed")  # type: ignore[assignment]  # all are states
    outcome.error = result.error
    timings = result.timings
    outcome.timings = {"queue": timings.queue_s} | {stage: getattr(timings, f"{stage}_s") for stage in WORK}


class Clock:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._begun_s = time.monotonic()

    def __call__(self) -> float:
        return time.monotonic() - self._begun_s
