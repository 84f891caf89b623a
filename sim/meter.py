"""What one host was limited by, and what it did: counted while it runs, so that no log has to be kept."""

from collections import defaultdict
from collections.abc import Sequence

from policy import (
    Admit,
    Complete,
    Decision,
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

BINDING = {
    WaitCause.MEMORY: "memory",
    WaitCause.SHARE: "memory",
    WaitCause.LOAD: "disk",
    WaitCause.SYNTHESIS_SLOT: "cores",
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
        self._waiting: dict[int, dict[str, int]] = {}  # by priority: partitions to admit, by job
        self._jobs: dict[str, tuple[int, int]] = {}  # priority and partitions
        self._to_synthesize = 0  # admitted ones
        self._to_prove = 0  # synthesized ones
        self._loading = 0
        self._known: set[str] = set()
        self._binding, self._since_s = NOTHING, 0.0
        self.binding_s: dict[str, float] = defaultdict(float)
        self.waits_s: dict[str, float] = defaultdict(float)
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
            self._to_prove += 1
        elif kind is Loaded or kind is LoadFailed:
            self._loading -= 1
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

    @property
    def unfinished(self) -> int:
        """Partitions of unfinished jobs."""
        return sum(count for _, count in self._jobs.values())

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
        self._waiting.setdefault(job.priority, {})[job.id] = job.partitions
        self.unbegun.add(job.id)

    def _decided(self, decision: Decision) -> None:
        kind = type(decision)
        if kind is Admit:
            self._admitted(decision.partition.job_id)  # type: ignore[union-attr]
        elif kind is Synthesize:
            self._to_synthesize -= 1
        elif kind is Prove:
            self._to_prove -= 1
            for cause, seconds in self._policy.waits(decision.partition).items():  # type: ignore[union-attr]
                self.waits_s[cause.value] += seconds
        elif kind is Load:
            self._load(decision.entry.key)  # type: ignore[union-attr]
        elif kind is Evict:
            self.evictions += 1
            self.in_memory.discard(decision.entry.key)  # type: ignore[union-attr]
        elif kind is Complete or kind is Fail:
            self._ended(decision.job_id)  # type: ignore[union-attr]

    def _admitted(self, job_id: str) -> None:
        self._to_synthesize += 1
        self.unbegun.discard(job_id)
        jobs = self._waiting[self._jobs[job_id][0]]
        jobs[job_id] -= 1
        if not jobs[job_id]:
            del jobs[job_id]

    def _load(self, key: str) -> None:
        self.loads += 1
        self.reloads += key in self._known
        self._known.add(key)
        self.in_memory.add(key)
        self._loading += 1

    def _ended(self, job_id: str) -> None:
        priority, _ = self._jobs.pop(job_id, (None, 0))
        self.unbegun.discard(job_id)
        if priority is not None:
            self._waiting[priority].pop(job_id, None)

    def _binding_now(self) -> str:
        for priority in sorted(self._waiting):
            for job_id in self._waiting[priority]:  # the first
                last = PartitionId(job_id, self._jobs[job_id][1] - 1)
                cause = self._policy.wait_cause(last)
                if cause is None:
                    return NOTHING
                return BINDING.get(cause) or self._before_turn()
        if self._to_synthesize > 0:
            return self._before_turn()
        return "devices" if self._to_prove > 0 else NOTHING

    def _before_turn(self) -> str:
        """What those wait for that are admitted."""
        return "disk" if self._loading else "cores"
