"""What is kept of a simulated run where somebody asks for it: all that the policy was told and decided."""

from collections.abc import Sequence
from dataclasses import dataclass

from policy import Admit, Decision, Event, PartitionId, Policy, Submit, Synthesized, WaitCause
from sim.waits import StageCauses


@dataclass(frozen=True)
class LogEntry:
    """An event given to the policy, the decisions it made, and the bytes reserved after them."""

    at_s: float
    event: Event
    decisions: tuple[Decision, ...]
    reserved_bytes: int


class RunLog:
    """Watches a machine: every event, and what partitions waited for."""

    def __init__(self, policy: Policy) -> None:
        self.entries: list[LogEntry] = []
        self.resident_bytes: list[int] = []  # after each, where somebody puts it here
        self.wait_causes: dict[PartitionId, str] = {}  # the first of each partition
        self.stage_causes = StageCauses(policy)
        self._policy = policy

    def __call__(self, at_s: float, event: Event, decisions: Sequence[Decision]) -> None:
        self.entries.append(LogEntry(at_s, event, tuple(decisions), self._policy.reserved_bytes))
        self._note_waits(event, decisions)
        self.stage_causes.note(decisions)

    def _note_waits(self, event: Event, decisions: Sequence[Decision]) -> None:
        """What a partition waits for when it begins to wait; later causes follow from the first."""
        begun = [decision.partition for decision in decisions if isinstance(decision, Admit)]
        if isinstance(event, Submit):
            begun = [PartitionId(event.job.id, index) for index in range(event.job.partitions)]
        elif isinstance(event, Synthesized):
            begun.append(event.partition)
        for partition in begun:
            if partition not in self.wait_causes and self._waits(partition):
                sentence = self._policy.explain(partition)
                self.wait_causes[partition] = sentence.removeprefix(f"{partition} ")

    def _waits(self, partition: PartitionId) -> bool:
        try:
            return self._policy.wait_cause(partition) not in (None, WaitCause.LOAD)
        except KeyError:  # its job has just ended
            return False
