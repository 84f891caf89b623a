"""From the policy's events and decisions to what is shown and recorded: which stage each partition is in."""

from collections.abc import Sequence

from db import StageName, State
from engine.metrics import Metrics
from engine.proofs import Progress, Stage
from engine.recorder import Recorder
from engine.waits import Waits
from policy import (
    TERMINAL,
    Admit,
    Decision,
    DeviceOutOfMemory,
    Displaced,
    Event,
    Failed,
    Loaded,
    LoadFailed,
    PartitionId,
    PartitionState,
    Policy,
    Prove,
    Proved,
    Shared,
    Stop,
    Submit,
    Synthesize,
    Synthesized,
    Verified,
    WaitCause,
)

# Loading is a stage of its own; these are the waits between stages.
WAITS = frozenset(WaitCause) - {WaitCause.LOAD}
LIVE = frozenset(PartitionState) - set(TERMINAL)
WAITING: frozenset[StageName] = frozenset({"wait", "load", "queue"})


class Timeline:
    """Keeps every proof's Progress and the history's stages. All times are those of the policy's log."""

    def __init__(self, policy: Policy, recorder: Recorder, metrics: Metrics) -> None:
        self._policy, self._recorder, self._metrics = policy, recorder, metrics
        self._waits = Waits(policy, metrics.waited)
        self._progress: dict[str, Progress] = {}
        self._open: dict[str, set[PartitionId]] = {}  # by job: the partitions that have not ended
        self._loading: list[PartitionId] = []
        self._stopping: set[PartitionId] = set()

    def expect(self, job_id: str, progress: Progress) -> None:
        """A job is about to be submitted."""
        self._progress[job_id] = progress

    def observe(self, event: Event, decisions: Sequence[Decision], at_s: float) -> None:
        """Take over what an event and the answer to it say; the decisions are not executed yet."""
        self._recorder.event(event, decisions, at_s)
        self._metrics.decided(decisions)
        self._happened(event, at_s)
        for decision in decisions:
            self._decided(decision, at_s)
        if isinstance(event, Submit):
            for partition in sorted(self._open[event.job.id]):
                self._note_wait(partition)
        if isinstance(event, Shared) and event.short:  # only now is it known that others have it
            for partition in self._waits:
                self._note_wait(partition, anew=True)

    def ended(self, job_id: str, at_s: float) -> None:
        """The job has ended: partitions that were never started end with it."""
        for partition in sorted(self._open[job_id]):
            self._end(partition, at_s, "cancelled")
        del self._open[job_id], self._progress[job_id]
        self._loading = [partition for partition in self._loading if partition.job_id != job_id]

    def _happened(self, event: Event, at_s: float) -> None:
        match event:
            case Submit(job):
                self._recorder.submitted(job, self._progress[job.id].name, at_s)
                self._progress[job.id].submitted_s = at_s
                self._open[job.id] = {PartitionId(job.id, index) for index in range(job.partitions)}
                for partition in self._open[job.id]:
                    self._waits.begin(partition)
            case Loaded():
                self._loaded(at_s)
            case LoadFailed(_, why):
                for partition in self._no_longer_loading():
                    self._end(partition, at_s, "failed", why)
            case Synthesized(partition):
                self._finish(partition, "synthesize", at_s)
                self._enter(partition, "queue", at_s)
                self._note_wait(partition)
            case DeviceOutOfMemory(partition):
                self._come_again(partition, at_s, "the device's memory was too little for it")
            case Displaced(partition):
                self._come_again(partition, at_s, "its device was lost, and no other can prove it")
            case Proved(partition):
                self._finish(partition, "prove", at_s)
                self._start(partition, "verify", at_s)
            case Verified(partition):
                self._finish(partition, "verify", at_s)
                self._end(partition, at_s, "succeeded")
            case Failed(partition, why):
                self._end(partition, at_s, "failed", why)

    def _come_again(self, partition: PartitionId, at_s: float, why_not: str) -> None:
        """The partition waits for another attempt, or has failed."""
        if any(self._is(partition, state) for state in LIVE):
            self._enter(partition, "wait", at_s)
        else:
            self._end(partition, at_s, "failed", why_not)

    def _decided(self, decision: Decision, at_s: float) -> None:
        match decision:
            case Admit(partition, reserved_bytes):
                self._recorder.partition(partition, state="running", reserved_bytes=reserved_bytes)
                if partition.index == 0:  # partitions are admitted in their order
                    self._recorder.proof(partition.job_id, "running")
                self._start(partition, "load", at_s)
                self._loading.append(partition)
                self._loaded(at_s)
                self._note_wait(partition)
            case Synthesize(partition):
                self._start(partition, "synthesize", at_s)
            case Prove(partition, device):
                self._recorder.partition(partition, device=device)
                self._progress[partition.job_id].devices[partition.index] = device
                self._start(partition, "prove", at_s)
            case Stop(partition):
                self._stopping.add(partition)

    def _loaded(self, at_s: float) -> None:
        """Some partitions may have what they need in memory now; until they synthesize they wait again."""
        for partition in self._no_longer_loading():
            self._finish(partition, "load", at_s)
            self._enter(partition, "wait", at_s)

    def _no_longer_loading(self) -> list[PartitionId]:
        gone = [each for each in self._loading if not self._is(each, PartitionState.LOADING)]
        self._loading = [each for each in self._loading if each not in gone]
        return gone

    def _start(self, partition: PartitionId, stage: Stage, at_s: float) -> None:
        self._progress[partition.job_id].start(stage, partition.index, at_s)
        self._enter(partition, stage, at_s)

    def _enter(self, partition: PartitionId, stage: StageName, at_s: float) -> None:
        self._recorder.enter(partition, stage, at_s, self._waits.end(partition))
        if stage in WAITING:
            self._waits.begin(partition)

    def _finish(self, partition: PartitionId, stage: Stage, at_s: float) -> None:
        seconds = self._progress[partition.job_id].finish(stage, partition.index, at_s)
        self._metrics.finished(stage, seconds)

    def _end(self, partition: PartitionId, at_s: float, state: State, error: str | None = None) -> None:
        if partition in self._stopping:  # whatever it answers, its proof is over
            self._stopping.remove(partition)
            state, error = "cancelled", None
        self._recorder.leave(partition, at_s, self._waits.end(partition))
        self._recorder.partition(partition, state=state, error=error)
        self._open[partition.job_id].remove(partition)

    def _note_wait(self, partition: PartitionId, anew: bool = False) -> None:
        try:
            if self._policy.wait_cause(partition) in WAITS:
                sentence = self._policy.explain(partition)
                self._recorder.waits(partition, sentence.removeprefix(f"{partition} "), anew)
        except KeyError:  # its job has just ended
            return

    def _is(self, partition: PartitionId, state: PartitionState) -> bool:
        try:
            return self._policy.state(partition) is state
        except KeyError:  # its job has just ended
            return False
