"""Questions to the policy after each event: whoever waits has one cause, and a sentence that says so."""

from policy import Event, PartitionId, Policy
from sim.torture.books import Books
from sim.torture.line import Waiting
from sim.torture.violation import expect

ASK_ONE_EVERY = 8


class Questions:
    """After every event its partition is asked about, now and then a job in turn, and every so often all."""

    def __init__(self, policy: Policy, books: Books, ask_every: int) -> None:
        self._policy, self._books, self._ask_every = policy, books, ask_every
        self._events = 0

    def ask(self, event: Event) -> None:
        self._events += 1
        partition = getattr(event, "partition", None)
        if partition is not None:
            self._asked(partition)
        if not self._events % self._ask_every:
            self._all_asked()
        elif not self._events % ASK_ONE_EVERY and self._books.line.groups:
            groups = self._books.line.groups
            self._asked_in_line(groups[self._events // ASK_ONE_EVERY % len(groups)].head)

    def _asked_in_line(self, waiting: Waiting) -> None:
        """Of a job that waits: its next partition, or its last, waits with cause."""
        index = waiting.next
        if self._events & 8 and waiting.next_index < waiting.job.partitions:
            index = waiting.job.partitions - 1
        partition = PartitionId(waiting.job.id, index)
        cause, told = self._policy.wait_cause(partition), self._policy.explain(partition)
        explained = cause is not None and told.startswith(f"{partition} waits for")
        expect(0, explained, "%s waits, and the policy says: %s", partition, told)

    def _asked(self, partition: PartitionId) -> None:
        """One cause for each that waits, none for others, and no question fails."""
        policy, held = self._policy, self._books.partitions.get(partition)
        if held is None:
            return
        waits = held.at in ("admitted", "synthesized") and not held.stopping
        if (policy.wait_cause(partition) is None) is waits:
            expect(0, False, "%s: wrong cause of wait", partition)
        if waits:
            expect(0, policy.explain(partition).startswith(f"{partition} waits for"), "%s: why?", partition)
        if policy.reserved_bytes_of(partition) != held.host_bytes:
            expect(6, False, "%s holds %s bytes", partition, held.host_bytes)

    def _all_asked(self) -> None:
        policy, books = self._policy, self._books
        expect(6, set(policy.partitions()) == books.partitions.keys(), "other partitions are admitted")
        for partition in books.partitions:
            self._asked(partition)
            told = policy.explain(partition).startswith(str(partition))
            expect(0, told, "%s is not explained", partition)
        for waiting in books.line:
            self._asked_in_line(waiting)
