"""Who waits for admission and whose turn it is.

Jobs of one circuit and one priority need the same, so if the first of them has no room none has: they form
a group, and only the first job of each group is looked at.

Turn: first come first served, where one level of priority is worth `ageing_s` of waiting. A job of priority
p (critical 0 … low 3) submitted at t ranks as if critical and submitted at t + p·ageing_s, which never
changes while it waits. A job that has started keeps its turn before new ones of its priority.

Overtaking: where the first in turn has no room, a later one may start. It counts against each group it
passes, and one passed `overtake_limit` times since its last admission holds the line: nothing that ranks
after it is admitted any more.
"""

from bisect import insort
from collections import OrderedDict
from collections.abc import Iterator

from policy.model import Circuit, Priority
from policy.records import JobRecord

Rank = tuple[float, int]
Place = tuple[float, int, int]


class Group:
    """Waiting jobs of one circuit and priority, in the order of submission; never empty."""

    __slots__ = (
        "circuit",
        "head",
        "in_memory",
        "jobs",
        "keys",
        "needed_bytes",
        "outdated",
        "overtaken",
        "place",
        "priority",
        "rank",
        "working_bytes",
    )

    def __init__(self, first: JobRecord) -> None:
        circuit = first.job.circuit
        self.circuit: Circuit = circuit
        self.priority: Priority = first.job.priority
        self.keys = frozenset(entry.key for entry in circuit.entries)
        self.working_bytes = circuit.working_bytes
        self.needed_bytes = 0  # working set and missing entries
        self.in_memory = False  # whether no entry is missing or loading
        self.outdated = True  # the two above, since an entry came, was loaded, or went
        self.jobs: OrderedDict[str, JobRecord] = OrderedDict()
        self.jobs[first.job.id] = first
        self.renew()

    def renew(self) -> None:
        """Another job has become the first: the group takes its turn, and none has overtaken it yet."""
        self.head: JobRecord = next(iter(self.jobs.values()))
        self.rank: Rank = self.head.rank
        self.place: Place = self.head.place
        self.overtaken = 0


class WaitingRoom:
    """All groups, in the order of turn."""

    def __init__(self, overtake_limit: int) -> None:
        self._overtake_limit = overtake_limit
        self._groups: dict[tuple[Priority, Circuit], Group] = {}
        self._order: list[Group] = []  # by place
        self._holders: list[Group] = []  # of the line
        self._users: dict[str, list[Group]] = {}  # by the key of an entry they need

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[Group]:
        return iter(self._order)

    def add(self, record: JobRecord) -> None:
        key = (record.job.priority, record.job.circuit)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = Group(record)
            insort(self._order, group, key=_place)
            for entry in group.circuit.entries:
                self._users.setdefault(entry.key, []).append(group)
        else:
            group.jobs[record.job.id] = record

    def group_of(self, record: JobRecord) -> Group:
        return self._groups[record.job.priority, record.job.circuit]

    def discard(self, record: JobRecord) -> None:
        """Forget the job, if it waits."""
        group = self._groups.get((record.job.priority, record.job.circuit))
        if group is not None and record.job.id in group.jobs:
            self._remove(group, record)

    def entry_changed(self, entry_key: str) -> None:
        for group in self._users.get(entry_key, ()):
            group.outdated = True

    def candidates(self) -> list[Group]:
        """The groups that may be admitted now if there is room, in the order of turn."""
        if not self._holders and self._overtake_limit:
            return self._order
        line = min([group.rank for group in self._holders or self._order], default=None)
        return [group for group in self._order if line is None or group.rank <= line]

    def took(self, group: Group) -> None:
        """A partition of the group's first job was admitted; the caller has counted it in the job."""
        record = group.head
        self._count_overtaken_by(record)
        self._leave_line(group)
        if record.next_index == record.job.partitions:
            self._remove(group, record)
        elif not record.started:
            self._go_before_new_ones(group, record)
        record.started = True

    def _count_overtaken_by(self, record: JobRecord) -> None:
        """A place is never later than the rank: past the record's own, nobody ranks before it."""
        effective_s, sequence = rank = record.rank
        last_place = (effective_s, 1, sequence)
        for group in self._order:
            if group.place > last_place:
                break
            if group.rank < rank:
                assert group.overtaken < self._overtake_limit, f"{group.head.job.id} held the line"
                group.overtaken += 1
                if group.overtaken == self._overtake_limit:
                    self._holders.append(group)

    def _leave_line(self, group: Group) -> None:
        group.overtaken = 0
        if group in self._holders:
            self._holders.remove(group)

    def _go_before_new_ones(self, group: Group, record: JobRecord) -> None:
        self._order.remove(group)
        effective_s, sequence = record.rank
        first_s = next((o.place[0] for o in self._order if o.priority == group.priority), effective_s)
        record.place = group.place = (min(first_s, effective_s), 0, sequence)
        insort(self._order, group, key=_place)

    def _remove(self, group: Group, record: JobRecord) -> None:
        del group.jobs[record.job.id]
        if group.head is not record:
            return
        self._order.remove(group)
        self._leave_line(group)
        if group.jobs:
            group.renew()
            insort(self._order, group, key=_place)
        else:
            del self._groups[group.priority, group.circuit]
            for entry in group.circuit.entries:
                self._users[entry.key].remove(group)
                if not self._users[entry.key]:
                    del self._users[entry.key]


def _place(group: Group) -> Place:
    return group.place
