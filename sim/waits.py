"""What each wait of a simulated partition was for: the cause that it lasted longest for."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from policy import Admit, Decision, PartitionId, Policy, Prove, Synthesize, WaitCause

Causes = dict[str, list[str | None]]
"""By the stage's name, in the order of its spans."""


class StageCauses:
    """A wait ends with a decision; what has been waited since the last one is of the stage that ends."""

    def __init__(self, policy: Policy) -> None:
        self.by_partition: dict[PartitionId, Causes] = defaultdict(lambda: defaultdict(list))
        self._policy = policy
        self._before: dict[PartitionId, Mapping[WaitCause, float]] = {}

    def note(self, decisions: Sequence[Decision]) -> None:
        for decision in decisions:
            if isinstance(decision, Admit | Synthesize | Prove):
                self._ended(decision, decision.partition)

    def _ended(self, decision: Admit | Synthesize | Prove, partition: PartitionId) -> None:
        waited, before = self._policy.waits(partition), self._before.get(partition, {})
        parts = {cause: seconds - before.get(cause, 0.0) for cause, seconds in waited.items()}
        self._before[partition] = waited
        causes = self.by_partition[partition]
        if isinstance(decision, Prove):
            causes["queue"].append(_longest(parts))
            del self._before[partition]
            return
        if isinstance(decision, Synthesize):
            load_s = parts.pop(WaitCause.LOAD, 0.0)
            causes["load"].append(WaitCause.LOAD.value if load_s > 0 else None)
        causes["wait"].append(_longest(parts))


def _longest(parts: Mapping[WaitCause, float]) -> str | None:
    longest = max(parts, key=lambda cause: parts[cause], default=None)
    return longest.value if longest is not None and parts[longest] > 0 else None
