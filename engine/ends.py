"""How proofs end: their files published, their rows closed, their callers told."""

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from db import RunState, State
from engine.circuit import OpenCircuit
from engine.errors import EngineError, ProofCancelled, ProofFailed
from engine.metrics import Metrics
from engine.outputs import Contents, Outputs
from engine.proofs import Progress, ProofResult, Stage
from engine.recorder import Recorder
from engine.timeline import Timeline

log = logging.getLogger("cuzk.engine")


@dataclass(eq=False)
class ActiveProof:
    """A proof that was submitted; after its end, what its caller may still ask for."""

    name: str
    circuit: OpenCircuit
    outputs: Outputs | Contents
    progress: Progress
    cause: BaseException | None = None  # the first error among its stages
    until: Stage = "verify"
    cancelled: str = "cancelled"  # in the words of who cancels it

    def name_of(self, partition: int) -> str:
        """A partition's, for people: "merkle #2 [1/3]", or as the proof's where it is the only one."""
        count = self.progress.partitions
        return self.name if count == 1 else f"{self.name} [{partition + 1}/{count}]"

    def result(self, proof_id: str) -> ProofResult:
        """What it has made, once it is done."""
        paths: list[tuple[Path, Path]] = []
        contents: tuple[tuple[bytes, bytes], ...] = ()
        if isinstance(self.outputs, Contents):
            contents = self.outputs.all()
        else:
            paths = [self.outputs.paths(index) for index in range(self.progress.partitions)]
        return ProofResult(
            proof_id,
            self.name,
            proof_paths=tuple(proof_path for proof_path, _ in paths),
            public_paths=tuple(public_path for _, public_path in paths),
            stage_seconds=self.progress.stage_seconds(),
            contents=contents,
        )


class Ends:
    """Ends proofs as the policy decides; `proofs` is by id."""

    def __init__(
        self, proofs: dict[str, ActiveProof], timeline: Timeline, recorder: Recorder, metrics: Metrics
    ) -> None:
        self._proofs, self._timeline, self._recorder, self._metrics = proofs, timeline, recorder, metrics

    def complete(self, job_id: str, at_s: float) -> None:
        """Every partition is verified: the proof succeeds if its files can be published."""
        proof = self._proofs[job_id]
        if proof.outputs.last is not None:
            self._recorder.publishes(job_id, proof.outputs.last)
        try:
            proof.outputs.publish()
        except OSError as error:
            where = proof.outputs.last and proof.outputs.last.parent
            failure = ProofFailed(f"{proof.name}: {where}: {error.strerror or error}")
            failure.__cause__ = error
            self.end(job_id, at_s, "failed", failure)
            return
        self.end(job_id, at_s, "succeeded", None)

    def fail(self, job_id: str, why: str, at_s: float, load_error: Exception | None) -> None:
        """The job has failed, or was cancelled; load_error is the cause where no stage of its own failed."""
        proof = self._proofs[job_id]
        if why == "cancelled":
            self.end(job_id, at_s, "cancelled", ProofCancelled(f"{proof.name}: {proof.cancelled}"))
            return
        cause = proof.cause or load_error
        failure = ProofFailed(f"{proof.name}: {why if cause is None else wording(cause)}")
        failure.__cause__ = cause
        self.end(job_id, at_s, "failed", failure)

    def end(self, job_id: str, at_s: float, state: State, error: EngineError | None) -> None:
        """The proof is over; what was written and not published is removed."""
        proof = self._proofs[job_id]
        proof.outputs.discard()
        self._timeline.ended(job_id, at_s)
        proof_path = str(proof.outputs.last) if error is None and proof.outputs.last else None
        self._recorder.proof(
            job_id, state, ended_s=at_s, proof_path=proof_path, error=str(error) if error else None
        )
        self._metrics.proofs[state] += 1
        proof.progress.end(error)
        log.info("%s", f"{proof.name}: {state}" if error is None else error)

    def engine_stopped(self, error: Exception) -> None:
        """Tell everyone who waits, after a mistake of ours."""
        for proof in self._proofs.values():
            if not proof.progress.ended:
                failure = EngineError(f"{proof.name}: the engine has stopped: {wording(error)}")
                failure.__cause__ = error
                proof.progress.end(failure)


def run_outcome(errors: Iterable[BaseException | None]) -> tuple[RunState, str | None]:
    """How a run has ended with those errors, if any, and the first reason if it was not well."""
    ends = [each for each in errors if each is not None]
    failures = [each for each in ends if isinstance(each, Exception) and not _is_cancellation(each)]
    if failures:
        return "failed", wording(failures[0])
    return ("cancelled", wording(ends[0])) if ends else ("succeeded", None)


def _is_cancellation(error: BaseException) -> bool:
    return isinstance(error, ProofCancelled | asyncio.CancelledError)


def wording(error: BaseException) -> str:
    """An error in one line: its own words where it was made for people to read, else with its kind."""
    text = " ".join(str(error).split())
    known = type(error).__module__.split(".")[0] in ("engine", "groth16", "kernels")
    return text if known and text else f"{type(error).__name__}: {text}".rstrip(": ")
