"""Who waits for admission and whose turn it is.

Jobs of one circuit and one priority need the same, so if the first of them has no room none has: they form
a group, and only the first job of each group is looked at.

Turn: first come first served, where one level of priority is worth `ageing_s` of waiting. A job of priority
p (critical 0 … low 3) submitted at t ranks as if critical and submitted at t + p·ageing_s, or, if that is
earlier, at the latest time to begin that still meets its due time. A rank never changes. A job that has
started keeps its turn before new ones of its priority, and so does the rest of its batch.

Overtaking: where the first in turn has no room, a later one may start. It counts against each group it
passes, and one passed `overtake_limit` times since its last admission holds the line: nothing that ranks
after it is admitted any more.

Gathering: where proofs go in batches, a new group whose entries are not in memory stays out of the line until
it is a full batch or has waited long enough, unless it finds room beside all that is in memory. What is
critical or due at a time does not gather.
"""

from bisect import bisect_left, insort
from collections import OrderedDict
from collections.abc import Iterator
from math import inf
from operator import attrgetter

from policy.circuits import Affected, CircuitRecord, Rank
from policy.group import Group
from policy.line import Line
from policy.model import Limits, Priority
from policy.protocol import WaitCause
from policy.records import JobRecord
from policy.waits import GroupWaited, WaitClock

_rank = attrgetter("rank")  # of a group


class WaitingRoom:
    """All groups: those in the line, and those that gather."""

    def __init__(self, limits: Limits) -> None:
        self._overtake_limit = limits.overtake_limit
        self._batch_size = limits.max_batch_size
        self._batch_wait_s = limits.max_batch_wait_s
        self.line = Line()
        self.gathering = Line()
        self._holders: list[Group] = []  # of the line, by rank
        self.last_rank: Rank | None = None  # nothing that ranks after it may be admitted; None: everybody may
        self._gatherers: OrderedDict[Group, None] = OrderedDict()  # the first to have begun first
        self.hot, self.cold = WaitClock(), WaitClock()
        self._batch = WaitClock(WaitCause.BATCH)

    @property
    def holder(self) -> Group | None:
        return self._holders[0] if self._holders else None

    def fitting(self, most_bytes: int, hot: bool, cold: bool) -> Iterator[Group]:
        """The groups that need at most so much and may be admitted now if there is room, in turn."""
        return self.line.fitting(most_bytes, hot, cold, self.last_rank)

    def add(self, record: JobRecord, now_s: float) -> bool:
        """The job waits; whether a group has come into being by it, or into the line."""
        group = record.circuit.groups.get(record.job.priority)
        new = group is None
        if group is not None:
            new = self._join(group, record, now_s)
        else:
            group = self._new_group(record, now_s)
            if self._gathers(group):
                group.gathers_since_s = now_s
                group.waited.enter(self._batch, now_s)
                self._gatherers[group] = None
                self.gathering.insert(group)
            else:
                self._insert(group, now_s)
        record.joined = group.waited.mark(now_s)
        record.waits_in_line = True
        if group.gathers_since_s is not None and len(group.jobs) >= self._batch_size:
            self.release(group, now_s)
            return True
        return new

    def put_back(self, record: JobRecord, index: int, now_s: float) -> None:
        """A partition that was admitted waits again, in its job's turn and the first of its job."""
        group = record.circuit.groups.get(record.job.priority)
        if group is None:
            group = self._new_group(record, now_s)
            self._insert(group, now_s)
        elif not record.waits_in_line:
            self._join(group, record, now_s)
        record.waits_in_line = True
        record.rejoined[index] = group.waited.mark(now_s)

    def discard(self, record: JobRecord, now_s: float) -> None:
        """Forget the job, if it waits."""
        group = record.circuit.groups.get(record.job.priority)
        if group is not None and record.waits_in_line:
            record.left = group.waited.mark(now_s)
            self._remove(group, record, now_s)

    def needs_changed(self, circuit: CircuitRecord, now_s: float) -> None:
        """The circuit needs more or less memory than before."""
        clock = self._clock(circuit)
        for group in circuit.groups.values():
            if group.gathers_since_s is None:
                self.line.update(group)
                group.waited.enter(clock, now_s)
            elif circuit.missing_bytes:
                self.gathering.update(group)
            else:
                self.release(group, now_s)

    def entries_changed(self, affected: Affected, now_s: float) -> None:
        """Entries of the circuits came, were loaded, or went."""
        for circuit in affected:
            self.needs_changed(circuit, now_s)

    def next_gathered_s(self) -> float:
        """When the next group has gathered for long enough; never, if none gathers."""
        for group in self._gatherers:
            assert group.gathers_since_s is not None, "a gatherer gathers"
            return group.gathers_since_s + self._batch_wait_s
        return inf

    def release_gathered(self, now_s: float) -> None:
        """Let those into the line that have gathered for long enough."""
        while self.next_gathered_s() <= now_s:
            self.release(next(iter(self._gatherers)), now_s)

    def release(self, group: Group, now_s: float) -> None:
        """Let a group that gathers into the line."""
        self._take_out(group)
        self._insert(group, now_s)

    def took(self, group: Group, now_s: float) -> None:
        """A partition of the group's first job was admitted; the caller has counted it in the job."""
        record, limit = group.head, self._overtake_limit
        for other in self.line.before(record.rank) if self.line.count > 1 else ():
            other.overtaken += 1
            if other.overtaken >= limit:
                self._hold(other)
        if group.overtaken >= limit > 0:
            self._hold_no_longer(group)
        group.overtaken = 0
        started, record.started = record.started, True
        if record.next_index >= record.job.partitions and not record.again:
            self._remove(group, record, now_s)
        elif not started:
            self._take_out(group)
            self._put_before_new_ones(group, now_s)

    def _join(self, group: Group, record: JobRecord, now_s: float) -> bool:
        """Whether the group has another turn by it."""
        if not group.insert(record):
            return False
        if group.gathers_since_s is None:
            self._take_out(group)
            group.renew()
            self._insert(group, now_s)
        else:
            self.gathering.remove(group)
            group.renew()
            self.gathering.insert(group)
        return True

    def _new_group(self, record: JobRecord, now_s: float) -> Group:
        circuit = record.circuit
        waited = GroupWaited(self._clock(circuit), now_s)
        group = circuit.groups[record.job.priority] = Group(record, self._batch_size, waited)
        return group

    def _gathers(self, group: Group) -> bool:
        urgent = group.priority is Priority.CRITICAL or group.head.job.due_s is not None
        return self._batch_size > 1 and bool(group.circuit.missing_bytes) and not urgent

    def _clock(self, circuit: CircuitRecord) -> WaitClock:
        return self.cold if circuit.absent else self.hot

    def _insert(self, group: Group, now_s: float) -> None:
        group.look_up()
        group.waited.enter(self._clock(group.circuit), now_s)
        self.line.insert(group)
        if group.overtaken == self._overtake_limit:
            self._hold(group)

    def _hold(self, group: Group) -> None:
        assert group.overtaken == self._overtake_limit, f"{group.head.job.id} held the line"
        insort(self._holders, group, key=_rank)
        self.last_rank = self._holders[0].rank

    def _hold_no_longer(self, group: Group) -> None:
        self.line.changes += 1
        del self._holders[bisect_left(self._holders, group.rank, key=_rank)]
        self.last_rank = self._holders[0].rank if self._holders else None

    def _take_out(self, group: Group) -> None:
        """Out of the line, or out of those that gather."""
        if group.gathers_since_s is not None:
            group.gathers_since_s = None
            self.gathering.remove(group)
            del self._gatherers[group]
            return
        self.line.remove(group)
        if group.overtaken >= self._overtake_limit:
            self._hold_no_longer(group)

    def _put_before_new_ones(self, group: Group, now_s: float) -> None:
        firsts = (self.line.first_place(group.priority), self.gathering.first_place(group.priority))
        first_s = min([place[0] for place in (*firsts, group.place) if place is not None])
        group.go_to((first_s, 0, group.rank[1]))
        self._insert(group, now_s)

    def _remove(self, group: Group, record: JobRecord, now_s: float) -> None:
        record.waits_in_line = False
        group.remove(record)
        if group.jobs and group.head is not record:
            return
        self._take_out(group)
        if not group.jobs:
            del group.circuit.groups[group.priority]
            return
        group.renew()
        group.overtaken = 0
        if record.started and group.batch_left and not group.head.started:
            group.batch_left -= 1
            self._put_before_new_ones(group, now_s)
        else:
            group.batch_left = self._batch_size - 1
            self._insert(group, now_s)
