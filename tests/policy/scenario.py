"""A policy on a small stage: events one line each, decisions as short words."""

from policy import (
    Admit,
    BudgetPolicy,
    Circuit,
    Complete,
    Decision,
    Device,
    Entry,
    Event,
    Evict,
    EvictFromDevice,
    Fail,
    Job,
    Limits,
    Load,
    Loaded,
    PartitionId,
    Policy,
    Priority,
    Prove,
    Proved,
    QuotientDone,
    Reject,
    Stop,
    Submit,
    Synthesize,
    Synthesized,
    Upload,
    Verified,
    WakeAt,
)


def circuit(name: str, entry_bytes: int, working_bytes: int, device_bytes: int = 0) -> Circuit:
    """With one entry of the circuit's name; half of the working set is freed with the quotient."""
    half = working_bytes // 2
    return Circuit(name, (Entry(name, entry_bytes),), half, working_bytes - half, device_bytes)


def limits(budget_bytes: int, slots: int = 1, workers: int = 1, **others: float | int) -> Limits:
    return Limits(budget_bytes, slots, (Device("cpu", workers),), **others)  # type: ignore[arg-type]  # a test


class Scenario:
    def __init__(self, limits: Limits, policy: Policy | None = None) -> None:
        self.policy: Policy = policy or BudgetPolicy(limits)
        self.now_s = 0.0

    def send(self, event: Event, after_s: float = 0.0) -> list[str]:
        self.now_s += after_s
        return [short(decision) for decision in self.policy.handle(event, self.now_s)]

    def submit(
        self,
        job_id: str,
        circuit: Circuit,
        partitions: int = 1,
        priority: Priority = Priority.NORMAL,
        due_s: float | None = None,
        after_s: float = 0.0,
    ) -> list[str]:
        return self.send(Submit(Job(job_id, circuit, partitions, priority, due_s)), after_s)

    def load(self, *keys: str) -> list[str]:
        return [word for key in keys for word in self.send(Loaded(key))]

    def synthesized(self, name: str) -> list[str]:
        return self.send(Synthesized(partition(name)))

    def prove(self, name: str) -> list[str]:
        """From the device on: quotient, proof, check."""
        p = partition(name)
        return [word for event in (QuotientDone(p), Proved(p), Verified(p)) for word in self.send(event)]

    def finish(self, name: str) -> list[str]:
        return self.synthesized(name) + self.prove(name)


def partition(name: str) -> PartitionId:
    """ "a" is the first partition of job a, "a1" its second."""
    return PartitionId(name[0], int(name[1:] or 0))


def short(decision: Decision) -> str:
    match decision:
        case Admit(p) | Synthesize(p) | Stop(p) | Prove(p):
            return f"{type(decision).__name__.lower()} {p.job_id}{p.index or ''}"
        case Load(entry) | Evict(entry):
            return f"{type(decision).__name__.lower()} {entry.key}"
        case Complete(job_id) | Fail(job_id) | Reject(job_id):
            return f"{type(decision).__name__.lower()} {job_id}"
        case EvictFromDevice(device, entry):
            return f"evict {entry.key} from {device}"
        case Upload(device, entry):
            return f"upload {entry.key} to {device}"
        case WakeAt(at_s):
            return f"wake at {at_s:g}"
