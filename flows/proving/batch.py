"""A batch's proofs, so many at a time, in a running engine."""

import time
from collections.abc import Iterable, Iterator

from engine import Engine, EngineError, ProofCancelled, ProofFailed
from flows.display.late import late_s
from flows.display.progress import Progress
from flows.display.shape import Shown
from flows.parameters.requests import Requests
from flows.proving.closed_loop import closed_loop
from flows.proving.daemon_engine import DaemonEngine
from flows.summary import ProofSummary, no_space


class Batch:
    """`indices`: which of the requests are to be made. stop: whether the first failure ends the others.

    One for want of space does: they would be proved in vain, since all are written into one folder.
    """

    def __init__(
        self, engine: Engine | DaemonEngine, requests: Requests, shown: Shown, progress: Progress, stop: bool
    ) -> None:
        self._engine, self._requests, self._shown = engine, requests, shown
        self._progress, self._stop = progress, stop
        self._stopped = False
        self._open: dict[str, str] = {}  # names by proof id
        self._started_s: dict[str, float] = {}
        self._summaries: dict[int, ProofSummary] = {}

    async def prove(self, indices: Iterable[int], concurrency: int) -> list[ProofSummary]:
        """What came of each that was begun, in order. What concerns all of them is raised."""
        try:
            return await closed_loop(self._until_stopped(indices), concurrency, self._prove_one)
        finally:
            self._shown.give_up()

    def _until_stopped(self, indices: Iterable[int]) -> Iterator[int]:
        for index in indices:
            if self._stopped:
                return
            yield index

    async def _prove_one(self, index: int) -> ProofSummary:
        request, started_s = self._requests[index], time.monotonic()
        proof_id = self._engine.submit(request)
        self._open[proof_id], self._started_s[proof_id] = request.name, started_s
        self._progress.submitted(proof_id, request.name)
        await self._shown.submitted(index, proof_id, request.name)
        error = await self._end_of(proof_id)
        del self._open[proof_id], self._started_s[proof_id]
        seconds = time.monotonic() - started_s
        self._tell(proof_id, seconds, error)
        self._shown.ended(index, proof_id, error)
        if error is not None and (self._stop or no_space(error)):
            self._stop_others()
        self._summaries[index] = summary = ProofSummary(
            request.name, seconds, error, late_s(self._requests.due)
        )
        return summary

    async def so_far(self) -> list[ProofSummary]:
        """What came of those that have ended, in order, and then those that were under way. To be called
        once the engine has been left, which has let some of them end well.
        """
        ended = [self._summaries[index] for index in sorted(self._summaries)]
        return ended + [await self._left(proof_id, name) for proof_id, name in self._open.items()]

    async def _left(self, proof_id: str, name: str) -> ProofSummary:
        if self._engine.has_ended(proof_id):
            error = await self._end_of(proof_id)
            if not isinstance(error, ProofCancelled):
                return ProofSummary(name, time.monotonic() - self._started_s[proof_id], error)
        return ProofSummary(name, 0.0, ProofCancelled("cancelled with the batch"))

    async def _end_of(self, proof_id: str) -> EngineError | None:
        """Why the proof was not made; None where it was."""
        try:
            await self._engine.result(proof_id)
        except (ProofFailed, ProofCancelled) as error:
            return error
        return None

    def _tell(self, proof_id: str, seconds: float, error: EngineError | None) -> None:
        if error is None:
            self._progress.succeeded(proof_id, seconds)
        else:
            self._progress.failed(proof_id, error)

    def _stop_others(self) -> None:
        if not self._stopped:
            self._stopped = True
            for proof_id in list(self._open):
                self._engine.cancel(proof_id)
