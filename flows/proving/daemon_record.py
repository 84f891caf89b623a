"""The run of a batch that a daemon proves, in the history of the batch's host: proofs, and stages as told."""

import asyncio
from pathlib import Path

from config import Config
from db import RunState, StageName, State, new_id
from engine import EngineError, ProofCancelled, ProofRequest, RunLabels
from engine.proofs import Progress, Stage
from engine.recorder import Recorder, Writer
from policy import Circuit, Job, Limits, PartitionId, Priority


class DaemonRecord:
    """Times are seconds since it was made. The daemon records the same proofs in a run of its own, with what
    they take; this one has the source "bench", so that nobody counts a proof twice."""

    def __init__(
        self, writer: Writer, run_id: str, labels: RunLabels, config: Config, limits: Limits
    ) -> None:
        self._recorder = Recorder(writer, run_id)
        self._loop = asyncio.get_running_loop()
        self._start_s = self._loop.time()
        self._failed: EngineError | None = None
        self._partitions: dict[str, int] = {}
        self._recorder.run_started(labels, config, limits, "daemon", source="bench")

    def now_s(self) -> float:
        return self._loop.time() - self._start_s

    def submitted(self, request: ProofRequest, partitions: int, progress: Progress) -> str:
        """A new proof's id."""
        proof_id, progress.submitted_s = new_id(), self.now_s()
        circuit = Circuit(request.circuit.name, (), 0, 0)
        job = Job(proof_id, circuit, partitions, request.priority or Priority.NORMAL)
        self._recorder.submitted(job, request.name, progress.submitted_s)
        self._partitions[proof_id] = partitions
        return proof_id

    def happened(
        self, proof_id: str, stage: Stage, index: int, finished: bool, at_s: float, device: str = ""
    ) -> None:
        """A stage has begun, or is finished, which begins the wait for the next."""
        partition = PartitionId(proof_id, index)
        if device:
            self._recorder.partition(partition, device=device)
        if not finished:
            if stage == "load":
                self._recorder.partition(partition, state="running")
            self._recorder.enter(partition, stage, at_s)
            return
        after: dict[Stage, StageName] = {"load": "wait", "synthesize": "queue"}
        if stage in after:
            self._recorder.enter(partition, after[stage], at_s)
        elif stage == "verify":
            self._recorder.leave(partition, at_s)
            self._recorder.partition(partition, state="succeeded")

    def shown_by(self, proof_id: str, stage: Stage, index: int, task_run_id: str) -> None:
        self._recorder.shown_by(PartitionId(proof_id, index), stage, task_run_id)

    def proof_ended(self, proof_id: str, last: Path, error: EngineError | None) -> None:
        """It was made, into files of which this is the last; or it was not."""
        state: State = "succeeded" if error is None else "failed"
        if isinstance(error, ProofCancelled):
            state = "cancelled"
        elif error is not None:
            self._failed = self._failed or error
        at_s = self.now_s()
        if error is not None:
            for index in range(self._partitions[proof_id]):
                self._recorder.leave(PartitionId(proof_id, index), at_s)
                self._recorder.partition(PartitionId(proof_id, index), state=state)
        path = None if error else str(last)
        self._recorder.proof(
            proof_id, state, ended_s=at_s, proof_path=path, error=str(error) if error else None
        )

    def ended(self, error: BaseException | None) -> None:
        """The run is over."""
        why = self._failed or (error if isinstance(error, Exception) else None)
        cancelled = error is not None and why is None
        state: RunState = "failed" if why else ("cancelled" if cancelled else "succeeded")
        self._recorder.run_ended(state, str(why) if why else None, None, None)
