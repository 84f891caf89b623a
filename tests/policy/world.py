"""A machine on paper that executes a policy's decisions, adding up for itself what everything holds.

It shares nothing with the policy but the messages. `tests.policy.rules` says what must hold in it.
"""

from dataclasses import dataclass, field, replace

from policy import (
    Admit,
    Cancel,
    Complete,
    Decision,
    Entry,
    Event,
    Evict,
    Fail,
    Failed,
    Job,
    Limits,
    Load,
    Loaded,
    LoadFailed,
    PartitionId,
    Policy,
    Prove,
    Proved,
    QuotientDone,
    Reject,
    Resized,
    Shared,
    Stop,
    Submit,
    Synthesize,
    Synthesized,
    Tick,
    Verified,
    WakeAt,
)


@dataclass
class Held:
    """An admitted partition: how far it is ("admitted", "synthesizing", …, "proved") and what it holds."""

    job: Job
    host_bytes: int
    keys: tuple[str, ...]
    at: str = "admitted"
    device: str | None = None
    stopping: bool = False
    passed: int = 0  # by others that got a device


@dataclass
class Waiting:
    """A job with partitions that were not admitted; `ahead` waited in its group when it came."""

    job: Job
    rank: tuple[float, int]
    ahead: int
    next_index: int = 0
    overtaken: int = 0  # while first of its group, since the last admission
    overtaken_by_peers: int = 0  # ever, by later jobs of its priority

    @property
    def group(self) -> tuple[object, object]:
        return (self.job.circuit, self.job.priority)


@dataclass
class Stored:
    entry: Entry
    loading: bool = True
    idle_since_s: float | None = None


@dataclass
class World:
    policy: Policy
    limits: Limits
    now_s: float = 0.0
    ceiling_bytes: int = 0  # above the limit only after a resize
    share_bytes: int | None = None  # None: the whole budget
    sequence: int = 0
    wake_at_s: float | None = None
    waiting: dict[str, Waiting] = field(default_factory=dict)
    partitions: dict[PartitionId, Held] = field(default_factory=dict)
    stored: dict[str, Stored] = field(default_factory=dict)
    running: set[str] = field(default_factory=set)  # jobs taken and not ended
    failing: set[str] = field(default_factory=set)
    ends: dict[str, Decision] = field(default_factory=dict)

    @property
    def limit_bytes(self) -> int:
        budget_bytes = self.limits.budget_bytes
        return budget_bytes if self.share_bytes is None else min(self.share_bytes, budget_bytes)

    @property
    def host_bytes(self) -> int:
        entries = sum(stored.entry.size_bytes for stored in self.stored.values())
        return entries + sum(held.host_bytes for held in self.partitions.values())

    def device_bytes(self, device: str) -> int:
        return sum(
            held.job.circuit.device_bytes for held in self.partitions.values() if held.device == device
        )

    def at(self, *stages: str) -> list[PartitionId]:
        return [p for p, held in self.partitions.items() if held.at in stages]

    def loaded(self, keys: tuple[str, ...]) -> bool:
        return all(key in self.stored and not self.stored[key].loading for key in keys)

    def idle(self) -> dict[str, Stored]:
        used = {key for held in self.partitions.values() for key in held.keys}
        return {key: s for key, s in self.stored.items() if not s.loading and key not in used}

    def holding(self) -> int:
        return len(self.partitions) - len(self.at("proved"))

    def stalled(self) -> bool:
        return not self.holding() and not any(stored.loading for stored in self.stored.values())

    def heads(self) -> list[Waiting]:
        first: dict[object, Waiting] = {}
        for waiting in self.waiting.values():
            first.setdefault(waiting.group, waiting)
        return list(first.values())

    def missing_bytes(self, job: Job) -> int:
        return sum(entry.size_bytes for entry in job.circuit.entries if entry.key not in self.stored)

    def happen(self, event: Event) -> None:
        """What the event says, as it is on the machine before the policy answers."""
        match event:
            case Submit(job):
                self._submit(job)
            case Loaded(key):
                self.stored[key].loading = False
            case LoadFailed(key):
                users = [held.job.id for held in self.partitions.values() if key in held.keys]
                for job_id in users:
                    self.job_fails(job_id)
                del self.stored[key]
            case Synthesized(p):
                self.partitions[p].at = "synthesized"
            case QuotientDone(p):
                self.partitions[p].at = "quotient"
                self.partitions[p].host_bytes -= self.partitions[p].job.circuit.phase1_bytes
            case Proved(p):
                held = self.partitions[p]
                held.at, held.host_bytes, held.keys, held.device = "proved", 0, (), None
            case Verified(p):
                del self.partitions[p]
            case Failed(p):
                self.partitions.pop(p, None)
                self.job_fails(p.job_id)
            case Cancel(job_id):
                if job_id in self.running:
                    self.job_fails(job_id)
            case Resized(budget_bytes):
                self._resize(budget_bytes)
            case Shared(share_bytes):
                self.share_bytes = share_bytes
                self.ceiling_bytes = max(self.limit_bytes, self.host_bytes)
            case Tick():
                self.wake_at_s = None
        self.note_idle()

    def _submit(self, job: Job) -> None:
        self.sequence += 1
        rank = (self.now_s + job.priority * self.limits.ageing_s, self.sequence)
        new = Waiting(job, rank, 0)
        same = [other for other in self.waiting.values() if other.group == new.group]
        new.ahead = sum(other.job.partitions - other.next_index for other in same)
        self.waiting[job.id] = new
        self.running.add(job.id)

    def _resize(self, budget_bytes: int) -> None:
        self.limits = replace(self.limits, budget_bytes=budget_bytes)
        for waiting in list(self.waiting.values()):
            circuit = waiting.job.circuit
            if circuit.entries_bytes + circuit.working_bytes > budget_bytes:
                self.job_fails(waiting.job.id)
        self.ceiling_bytes = max(self.limit_bytes, self.host_bytes)

    def job_fails(self, job_id: str) -> None:
        """What has not started is gone at once; what runs goes when the policy's Stop is answered."""
        self.failing.add(job_id)
        self.waiting.pop(job_id, None)
        for p in self.at("admitted"):
            if p.job_id == job_id:
                del self.partitions[p]

    def note_idle(self) -> None:
        idle = self.idle()
        for key, stored in self.stored.items():
            if key not in idle:
                stored.idle_since_s = None
            elif stored.idle_since_s is None:
                stored.idle_since_s = self.now_s

    def execute(self, decision: Decision) -> None:
        match decision:
            case Stop(p):
                assert p.job_id in self.failing
                assert not self.partitions[p].stopping
                self.partitions[p].stopping = True
            case Evict(entry):
                assert entry.key in self.idle(), f"{entry.key} was evicted in use"
                del self.stored[entry.key]
            case Admit(p, reserved_bytes):
                self._admit(p, reserved_bytes)
            case Load(entry):
                assert entry.key not in self.stored, f"{entry.key} was loaded twice"
                self.stored[entry.key] = Stored(entry)
            case Synthesize(p):
                held = self.partitions[p]
                assert (held.at, held.stopping) == ("admitted", False)
                assert self.loaded(held.keys)
                held.at = "synthesizing"
            case Prove(p, device):
                held = self.partitions[p]
                assert (held.at, held.stopping) == ("synthesized", False)
                held.at, held.device = "proving", device
                for other in self.at("synthesized"):
                    self.partitions[other].passed += 1
            case Complete(job_id) | Fail(job_id) | Reject(job_id):
                self._end(job_id, decision)
            case WakeAt(at_s):
                assert at_s > self.now_s
                self.wake_at_s = at_s

    def _admit(self, p: PartitionId, reserved_bytes: int) -> None:
        waiting = self.waiting[p.job_id]
        circuit = waiting.job.circuit
        assert p.index == waiting.next_index
        assert reserved_bytes == circuit.working_bytes
        self.partitions[p] = Held(waiting.job, reserved_bytes, tuple(entry.key for entry in circuit.entries))
        for other in self.heads():
            other.overtaken += other.rank < waiting.rank
        for other in self.waiting.values():
            peers = other.job.priority == waiting.job.priority and other.group != waiting.group
            other.overtaken_by_peers += peers and other.rank < waiting.rank
        waiting.overtaken = 0
        waiting.next_index += 1
        if waiting.next_index == waiting.job.partitions:
            del self.waiting[p.job_id]

    def _end(self, job_id: str, decision: Decision) -> None:
        assert job_id in self.running, f"{job_id} ended twice"
        assert not any(p.job_id == job_id for p in self.partitions), f"{job_id} ended with work running"
        assert isinstance(decision, Fail) == (job_id in self.failing)
        self.waiting.pop(job_id, None)
        self.running.remove(job_id)
        self.failing.discard(job_id)
        self.ends[job_id] = decision
