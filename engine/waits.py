"""What each wait of a partition was for. The cause of a wait is what it lasted longest for."""

from collections.abc import Callable, Iterator, Mapping

from policy import PartitionId, Policy, WaitCause


class Waits:
    """The waits that go on. `ended` is told cause and seconds of each part of one that is over."""

    def __init__(self, policy: Policy, ended: Callable[[WaitCause, float], None]) -> None:
        self._policy, self._ended = policy, ended
        self._before: dict[PartitionId, Mapping[WaitCause, float]] = {}

    def begin(self, partition: PartitionId) -> None:
        """The partition waits from now on."""
        self._before[partition] = self._so_far(partition)

    def end(self, partition: PartitionId) -> str | None:
        """It waits no longer; returns what it waited longest for. None where it did not, or for no time."""
        before = self._before.pop(partition, None)
        if before is None:
            return None
        now = self._so_far(partition)
        parts = {cause: seconds - before.get(cause, 0.0) for cause, seconds in now.items()}
        for cause, seconds in parts.items():
            self._ended(cause, seconds)
        longest = max(parts, key=parts.__getitem__, default=None)
        return longest.value if longest is not None and parts[longest] > 0 else None

    def __iter__(self) -> Iterator[PartitionId]:
        return iter(self._before)

    def _so_far(self, partition: PartitionId) -> Mapping[WaitCause, float]:
        try:
            return self._policy.waits(partition)
        except KeyError:  # its job was refused
            return {}
