"""What everybody has waited, by cause, added up from the causes that the policy told after each event."""

from collections import defaultdict
from collections.abc import Iterator

from policy import PartitionId, Policy, WaitCause
from sim.torture.books import Books
from sim.torture.violation import expect

ROUNDING_S = 1e-5


class Waits:
    """Between two events nobody's cause changes; so the policy's sums must be those of its answers."""

    def __init__(self) -> None:
        self._now_s = 0.0
        self._causes: dict[PartitionId, WaitCause] = {}
        self._seconds: dict[PartitionId, dict[WaitCause, float]] = defaultdict(dict)

    def pass_time(self, now_s: float) -> None:
        for partition, cause in self._causes.items():
            waited = self._seconds[partition]
            waited[cause] = waited.get(cause, 0.0) + now_s - self._now_s
        self._now_s = now_s

    def compare(self, policy: Policy, books: Books) -> None:
        """And take over the causes from now on."""
        for partition in list(self._seconds):
            told = policy.waits(partition)
            own = self._seconds[partition]
            same = all(abs(told.get(cause, 0.0) - own.get(cause, 0.0)) < ROUNDING_S for cause in WaitCause)
            expect(0, same, "%s has waited %s, and the policy says %s", partition, own, told)
            if partition.job_id not in books.jobs:
                del self._seconds[partition]
        self._causes.clear()
        for partition in _unfinished(books):
            cause = policy.wait_cause(partition)
            if cause is not None:
                self._causes[partition] = cause


def _unfinished(books: Books) -> Iterator[PartitionId]:
    yield from books.partitions
    for waiting in books.line:
        for index in (*waiting.again, *range(waiting.next_index, waiting.job.partitions)):
            yield PartitionId(waiting.job.id, index)
