"""The rules about one answer: what it refuses, whom it admits first, and what it evicts for that."""

from collections.abc import Callable

from policy import Admit, Decision, Evict, Prove, Reject, Stop, Submit, Synthesize, Unload
from sim.torture.books import Books
from sim.torture.holdings import Held
from sim.torture.line import Group
from sim.torture.on_devices import Stored
from sim.torture.room import (
    Idle,
    bytes_open,
    lookahead_open,
    needed_bytes,
    spared,
)
from sim.torture.violation import expect


class Before:
    """What the books said between the event and its answer."""

    def __init__(self, books: Books, evicts: list[Evict]) -> None:
        self.stalled = books.stalled
        self.host_bytes = books.host_bytes
        self.idle = dict(books.idle) if evicts else {}
        self.evicted = [self.idle[each.entry.key] for each in evicts if each.entry.key in self.idle]
        self.forced = not all(books.old_enough(stored) for stored in self.evicted)


def refused_only_if_impossible(books: Books, event: Submit, decisions: list[Decision]) -> None:
    """Rule 2."""
    circuit = event.job.circuit
    never_fits = books.never_fits(books.expected(circuit))
    impossible = never_fits or books.is_replaced(circuit) or books.never_proves(circuit)
    refused = any(type(decision) is Reject for decision in decisions)
    expect(2, refused == impossible, "job %s: rejected %s, impossible %s", event.job.id, refused, impossible)


def goes_if_idle(books: Books, event: Unload, decisions: list[Decision]) -> list[Decision]:
    """Rule 4, for an entry that somebody wants gone. What is left of the answer once it is."""
    key = event.entry_key
    if key not in books.idle:
        expect(4, not decisions, "entry %s is not idle, and to unload it changes something", key)
        return decisions
    first = decisions[0] if decisions else None
    gone = type(first) is Evict and first.entry.key == key
    expect(4, gone, "entry %s is idle, and stays when it is to be unloaded", key)
    if first is not None:
        books.execute(first)
    return decisions[1:]


def in_turn(
    books: Books,
    before: Before,
    decisions: list[Decision],
    admit: Admit,
    has_room: Callable[[Books, Group, Idle], bool],
) -> None:
    """Rule 5: nobody who could have started is passed by the first admission of an answer.

    Devices and ready partitions are served before anybody is admitted. Work that fits beside what is in
    memory may go before work that would have entries evicted.
    """
    if before.host_bytes > books.limit_bytes:
        return  # evictions for the smaller budget came before
    proving = [books.partitions[each.partition] for each in decisions if type(each) is Prove]
    proves = len(proving)
    stops = len([each for each in decisions if type(each) is Stop and each.partition in books.queue])
    queued = len(books.queue) - proves - stops
    served = [each for each in decisions if type(each) is Synthesize and each.partition in books.admitted]
    synthesizes = lookahead_open(books, queued, books.synthesizing + len(served), books.idle_workers - proves)
    loads = len(books.admitted) - len(served) < books.limits.synthesis_slots
    first = books.line.find(admit.partition.job_id)
    idle = Idle.FORCED if before.forced else Idle.OLD
    ahead_bytes = books.ahead_bytes - sum([held.host_bytes for held in proving])
    if not bytes_open(books, ahead_bytes, books.ahead_count - proves - stops, books.idle_workers - proves):
        expect(7, False, "%s was admitted beyond the lookahead", admit.partition)
    free_bytes = books.limit_bytes - books.host_bytes
    as_it_is = needed_bytes(books, first.group.expected) <= free_bytes
    last = books.line.last_rank()
    for group in books.line.groups:
        head = group.head
        may_start = synthesizes if books.in_memory(group.expected) else loads
        if head is first or head.rank > last or not may_start:
            continue
        if books.limits.sort_by_type and as_it_is and needed_bytes(books, group.expected) > free_bytes:
            continue
        if head.place < first.place and not books.line.may_gather(group, books.now_s):
            expect(5, not has_room(books, group, idle), "%s was passed for %s", head.job.id, first.job.id)


def evictions_justified(books: Books, before: Before, admitted: list[Held]) -> None:
    """Rule 4: for an admission or a smaller budget; not young without need, none in vain, oldest first."""
    limit_bytes = books.limit_bytes
    if before.host_bytes > limit_bytes:
        return
    expect(4, bool(admitted), "entries were evicted for nobody")
    expect(4, before.stalled or not before.forced, "a young entry was evicted without need")
    if len(admitted) == 1:
        _fewest(books, before.evicted)
        if not before.stalled:
            _not_what_goes_first(books, before.evicted, admitted[0])
        _oldest_first(books, before, admitted[0])


def _not_what_goes_first(books: Books, evicted: list[Stored], admitted: Held) -> None:
    stay = spared(books, admitted.expected, admitted.rank, Idle.OLD)
    for stored in evicted:
        key = stored.entry.key
        expect(4, key not in stay, "entry %s was evicted, and work before %s needs it", key, admitted.id)


def _fewest(books: Books, evicted: list[Stored]) -> None:
    for stored in evicted:
        superfluous = books.host_bytes + stored.size_bytes <= books.limit_bytes
        expect(4, not superfluous, "entry %s was evicted in vain", stored.entry.key)


def _oldest_first(books: Books, before: Before, admitted: Held) -> None:
    """Without the most recently used of the evicted, even all older ones would not have done."""
    youngest_s = max([stored.idle_since_s for stored in before.evicted])
    idle = Idle.FORCED if before.forced else Idle.OLD
    stay = spared(books, admitted.expected, admitted.rank, idle)
    older_bytes = sum(
        [
            stored.size_bytes
            for key, stored in before.idle.items()
            if stored.idle_since_s < youngest_s and key not in stay
        ]
    )
    freed_bytes = sum([stored.size_bytes for stored in before.evicted])
    enough = books.host_bytes + freed_bytes - older_bytes <= books.limit_bytes
    expect(4, not enough, "an entry used more recently was evicted before an older one")
