"""What one host was limited by, and what it did: counted while it runs, so that no log has to be kept."""

from collections import OrderedDict, defaultdict
from collections.abc import Mapping, Sequence

from policy import (
    TERMINAL,
    Admit,
    Complete,
    Decision,
    DeviceOutOfMemory,
    Displaced,
    Event,
    Evict,
    Fail,
    Load,
    Loaded,
    LoadFailed,
    PartitionId,
    Policy,
    Prove,
    Submit,
    Synthesize,
    Synthesized,
    WaitCause,
)

CORES = "cores"
LOADS = "loads of keys"
"""From disk, or from memory where their files still are."""
BINDING = {
    WaitCause.MEMORY: "memory",
    WaitCause.SHARE: "memory",
    WaitCause.LOAD: LOADS,
    WaitCause.SYNTHESIS_SLOT: CORES,
    WaitCause.LOOKAHEAD: "devices",
    WaitCause.DEVICE: "devices",
    WaitCause.DEVICE_MEMORY: "device memory",
    WaitCause.BATCH: "batching",
    WaitCause.CONCURRENCY: "fixed concurrency",
}
NOTHING = "nothing"
"""Nothing waits: what arrives is the limit, or the time that a proof takes by itself."""


class Meter:
    """Watches a machine. The binding resource is what the partition whose turn is next waits for."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        # By priority: partitions to admit, by job. In a plain dict it is slow to find the first left.
        self._waiting: dict[int, OrderedDict[str, int]] = {}
        self._jobs: dict[str, tuple[int, int]] = {}  # priority and partitions
        self._again: dict[str, int] = {}  # of jobs with a partition that waits again, which one
        self._counted: dict[PartitionId, Mapping[WaitCause, float]] = {}  # of these: waits that were summed
        self._ready: set[PartitionId] = set()  # admitted, and not synthesizing yet
        self._synthesized: set[PartitionId] = set()  # and not proving yet
        self._loading = 0
        self._known: set[str] = set()
        self._binding, self._since_s = NOTHING, 0.0
        self.binding_s: dict[str, float] = defaultdict(float)
        self.waits_s: dict[str, float] = defaultdict(float)
        self._circuits: dict[str, str] = {}  # by job
        self.circuit_waits_s: dict[str, dict[str, float]] = {}  # of waits_s, by circuit
        self.evictions = self.loads = self.reloads = 0
        self.in_memory: set[str] = set()
        self.unbegun: set[str] = set()  # jobs of which no partition is admitted
        self.unbegun_s = 0.0

    def __call__(self, at_s: float, event: Event, decisions: Sequence[Decision]) -> None:
        self._pass_time(at_s)
        kind = type(event)
        if kind is Submit:
            self._submitted(event)  # type: ignore[arg-type]  # it is one
        elif kind is Synthesized:
            self._synthesized.add(event.partition)  # type: ignore[union-attr]
        elif kind is Loaded or kind is LoadFailed:
            self._loading -= 1
        elif kind is Displaced or kind is DeviceOutOfMemory:
            self._comes_again(event.partition)  # type: ignore[union-attr]
        for decision in decisions:
            self._decided(decision)
        self._binding = self._binding_now()

    def begin(self, at_s: float) -> None:
        """Count from now."""
        self._since_s = at_s

    def close(self, at_s: float) -> None:
        """Count up to now."""
        self._pass_time(at_s)

    def waits_before(self, priority: int) -> bool:
        """Whether work of that priority, or of a more urgent one, waits for admission."""
        return any(jobs for level, jobs in self._waiting.items() if level <= priority)

    @property
    def up_s(self) -> float:
        """Seconds that were counted."""
        return sum(self.binding_s.values())

    def _pass_time(self, at_s: float) -> None:
        passed_s = at_s - self._since_s
        if passed_s:
            self.binding_s[self._binding] += passed_s
            if self.unbegun:
                self.unbegun_s += passed_s
            self._since_s = at_s

    def _submitted(self, event: Submit) -> None:
        job = event.job
        self._jobs[job.id] = (job.priority, job.partitions)
        self._waiting.setdefault(job.priority, OrderedDict())[job.id] = job.partitions
        self.unbegun.add(job.id)
        self._circuits[job.id] = job.circuit.name

    def _decided(self, decision: Decision) -> None:
        kind = type(decision)
        if kind is Admit:
            self._admitted(decision.partition)  # type: ignore[union-attr]
        elif kind is Synthesize:
            self._ready.discard(decision.partition)  # type: ignore[union-attr]
        elif kind is Prove:
            self._proves(decision.partition)  # type: ignore[union-attr]
        elif kind is Load:
            self._load(decision.entry.key)  # type: ignore[union-attr]
        elif kind is Evict:
            self.evictions += 1
            self.in_memory.discard(decision.entry.key)  # type: ignore[union-attr]
        elif kind is Complete or kind is Fail:
            self._ended(decision.job_id)  # type: ignore[union-attr]

    def _admitted(self, partition: PartitionId) -> None:
        job_id = partition.job_id
        self._ready.add(partition)
        self.unbegun.discard(job_id)
        jobs = self._waiting[self._jobs[job_id][0]]
        jobs[job_id] -= 1
        if not jobs[job_id]:
            del jobs[job_id]
            self._again.pop(job_id, None)

    def _proves(self, partition: PartitionId) -> None:
        self._synthesized.discard(partition)
        counted = self._counted.pop(partition, {})
        of_circuit = self.circuit_waits_s.setdefault(self._circuits[partition.job_id], defaultdict(float))
        for cause, seconds in self._policy.waits(partition).items():
            more_s = seconds - counted.get(cause, 0.0)
            self.waits_s[cause.value] += more_s
            of_circuit[cause.value] += more_s

    def _comes_again(self, partition: PartitionId) -> None:
        """What was displaced waits for admission once more, if only until this event's decisions."""
        try:
            if self._policy.state(partition) in TERMINAL:
                return
        except KeyError:  # its job has failed with this event
            return
        job_id = partition.job_id
        jobs = self._waiting[self._jobs[job_id][0]]
        jobs[job_id] = jobs.get(job_id, 0) + 1
        self._again[job_id] = partition.index
        self._counted[partition] = self._policy.waits(partition)

    def _load(self, key: str) -> None:
        self.loads += 1
        self.reloads += key in self._known
        self._known.add(key)
        self.in_memory.add(key)
        self._loading += 1

    def _ended(self, job_id: str) -> None:
        if job_id not in self._jobs:  # it was rejected
            return
        priority, count = self._jobs.pop(job_id)
        del self._circuits[job_id]
        self.unbegun.discard(job_id)
        if self._waiting[priority].pop(job_id, None) is not None or self._ready or self._synthesized:
            partitions = {PartitionId(job_id, index) for index in range(count)}
            self._ready -= partitions
            self._synthesized -= partitions
            self._again.pop(job_id, None)

    def _binding_now(self) -> str:
        for priority in sorted(self._waiting):
            for job_id in self._waiting[priority]:  # the first
                index = self._again.get(job_id, self._jobs[job_id][1] - 1)
                cause = self._policy.wait_cause(PartitionId(job_id, index))
                if cause is None:
                    return NOTHING
                return BINDING.get(cause) or self._before_turn()
        if self._ready:
            return self._before_turn()
        return "devices" if self._synthesized else NOTHING

    def _before_turn(self) -> str:
        """What those wait for that are admitted."""
        return LOADS if self._loading else CORES
