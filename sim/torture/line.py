"""Who waits for admission, as the rules see it: ranks, places, and how often each was overtaken."""

from bisect import insort
from collections.abc import Iterator
from dataclasses import replace
from math import inf

from policy import Job, Limits, PartitionId, Priority
from sim.torture.expected import Expected
from sim.torture.violation import expect

Rank = tuple[float, int]
Place = tuple[float, int, int]
NEVER: Rank = (inf, 0)


class Waiting:
    """A job with partitions that wait for admission; `ahead` partitions of its group go before it."""

    __slots__ = ("again", "ahead", "group", "job", "next_index", "overtaken_by_peers", "place", "rank")

    def __init__(self, job: Job, rank: Rank, group: "Group") -> None:
        self.job = job
        self.rank = rank
        self.place: Place = (rank[0], 1, rank[1])
        self.group = group
        self.ahead = 0
        self.next_index = 0  # from here on they were never admitted
        self.again: list[int] = []  # admitted before, and waiting once more
        self.overtaken_by_peers = 0  # ever, by later jobs of its priority and another circuit

    @property
    def left(self) -> int:
        return self.job.partitions - self.next_index + len(self.again)

    @property
    def next(self) -> int:
        return self.again[0] if self.again else self.next_index

    def waits(self, index: int) -> bool:
        return index >= self.next_index or index in self.again


class Group:
    """Jobs of one circuit and priority need the same: the first of them in turn stands for all."""

    __slots__ = (
        "batch_left",
        "expected",
        "head",
        "jobs",
        "may_hold",
        "overtaken",
        "priority",
        "since_s",
        "urgent",
    )

    head: Waiting

    def __init__(self, job: Job, expected: Expected, now_s: float, batch_size: int) -> None:
        self.batch_left = batch_size - 1  # jobs that may follow the first as if they had started
        self.expected = expected  # of the circuit
        self.priority = job.priority
        self.jobs: list[Waiting] = []  # in turn
        # How often its head was, since it became the head or last got a partition admitted, at least and at
        # most: what is passed while it waits for its batch has no turn yet.
        self.overtaken = 0
        self.may_hold = 0
        self.since_s = now_s
        self.urgent = job.priority is Priority.CRITICAL or job.due_s is not None

    def insert(self, waiting: Waiting) -> None:
        insort(self.jobs, waiting, key=lambda each: each.place)
        position = self.jobs.index(waiting)
        waiting.ahead = sum([each.left for each in self.jobs[:position]])
        for behind in self.jobs[position + 1 :]:
            behind.ahead += waiting.left
        self.head = self.jobs[0]

    def head_left(self) -> None:
        """The next job becomes the first, and nobody has overtaken that yet."""
        self.head = self.jobs[0]
        self.overtaken = self.may_hold = 0


class Line:
    """All that wait, and rule 5 at every admission."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._sequence = 0
        self._waiting: dict[str, Waiting] = {}
        self._groups: dict[tuple[int, Expected], Group] = {}
        self.groups: list[Group] = []
        self._last_rank: Rank | None = None

    def __iter__(self) -> Iterator[Waiting]:
        return iter(self._waiting.values())

    def last_rank(self) -> Rank:
        """Of the first group that was overtaken too often: none is admitted that ranks after it."""
        if self._last_rank is None:
            limit = self._limits.overtake_limit
            self._last_rank = min(
                [group.head.rank for group in self.groups if group.may_hold >= limit], default=NEVER
            )
        return self._last_rank

    def waits(self, job_id: str) -> bool:
        return job_id in self._waiting

    def find(self, job_id: str) -> Waiting:
        return self._waiting[job_id]

    def resize(self, budget_bytes: int) -> Limits:
        self._limits = replace(self._limits, budget_bytes=budget_bytes)
        return self._limits

    def join(self, job: Job, expected: Expected, now_s: float) -> None:
        self._sequence += 1
        effective_s = now_s + job.priority * self._limits.ageing_s
        if job.due_s is not None:
            effective_s = min(effective_s, job.due_s - expected.job_s)
        self._add(Waiting(job, (effective_s, self._sequence), self._group(job, expected, now_s)))

    def _group(self, job: Job, expected: Expected, now_s: float) -> Group:
        key = job.priority, expected
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = Group(job, expected, now_s, self._limits.max_batch_size)
            self.groups.append(group)
        return group

    def _add(self, waiting: Waiting) -> None:
        self._last_rank = None
        self._waiting[waiting.job.id] = waiting
        waiting.group.insert(waiting)

    def come_again(
        self, partition: PartitionId, job: Job, expected: Expected, place: Place, rank: Rank, now_s: float
    ) -> None:
        """A partition waits that was admitted before; its job may have nothing else that waits."""
        waiting = self._waiting.get(job.id)
        if waiting is None:
            waiting = Waiting(job, rank, self._group(job, expected, now_s))
            waiting.place, waiting.next_index = place, job.partitions
            waiting.again.append(partition.index)
            self._add(waiting)
            return
        waiting.again.append(partition.index)
        for other in waiting.group.jobs:
            if other.place >= waiting.place:
                other.ahead += 1

    def leave(self, job_id: str) -> None:
        """Forget the job, if it waits."""
        waiting = self._waiting.pop(job_id, None)
        if waiting is None:
            return
        self._last_rank = None
        group = waiting.group
        group.jobs.remove(waiting)
        if group.jobs:
            if group.head is waiting:
                self._batch_goes_on(group, bool(waiting.next_index))
                group.head_left()
        else:
            del self._groups[group.priority, group.expected]
            self.groups.remove(group)

    def _batch_goes_on(self, group: Group, started: bool) -> None:
        if started and group.batch_left and not group.jobs[0].next_index:
            group.batch_left -= 1
            self._go_before_new_ones(group.jobs[0])
        else:
            group.batch_left = self._limits.max_batch_size - 1

    def may_gather(self, group: Group, now_s: float) -> bool:
        """Whether the group may be waiting for the rest of its batch, and so have no turn yet."""
        limits = self._limits
        if limits.max_batch_size == 1 or group.urgent:
            return False
        return len(group.jobs) < limits.max_batch_size and now_s < group.since_s + limits.max_batch_wait_s

    def admit(self, partition: PartitionId, now_s: float) -> Waiting:
        """The job, which must be the first of its group."""
        waiting = self._waiting.get(partition.job_id)
        if waiting is None:
            expect(5, False, "%s was admitted, and its job does not wait", partition)
            raise KeyError(partition)  # not reached
        group = waiting.group
        in_order = group.head is waiting and partition.index == waiting.next
        expect(5, in_order, "%s was admitted out of the order of its group", partition)
        self._overtake(waiting, now_s)
        group.overtaken = group.may_hold = 0
        self._last_rank = None
        self._take(waiting)
        return waiting

    def _take(self, waiting: Waiting) -> None:
        first = not waiting.next_index
        if waiting.again:
            waiting.again.pop(0)
        else:
            waiting.next_index += 1
        if not waiting.left:
            self.leave(waiting.job.id)
        elif first:
            self._go_before_new_ones(waiting)

    def _go_before_new_ones(self, waiting: Waiting) -> None:
        own = waiting.group
        others = [group for group in self.groups if group.priority == own.priority and group is not own]
        first_s = min([waiting.place[0], *[group.head.place[0] for group in others]])
        waiting.place = (first_s, 0, waiting.rank[1])

    def _overtake(self, waiting: Waiting, now_s: float) -> None:
        """Rule 5: whoever is passed was not passed too often before."""
        limit, rank, own = self._limits.overtake_limit, waiting.rank, waiting.group
        for group in self.groups:
            if group.head.rank < rank:
                group.may_hold += 1
                if not self.may_gather(group, now_s):
                    group.overtaken += 1
                    if group.overtaken > limit:
                        expect(5, False, "job %s starves", group.head.job.id)
                    if group.priority == own.priority:
                        self._overtake_peers(group, rank)

    def _overtake_peers(self, group: Group, rank: Rank) -> None:
        """The jobs that have waited in turn behind the head of their group."""
        limit, head_rank = self._limits.overtake_limit, group.head.rank
        for other in group.jobs:
            if head_rank <= other.rank < rank:
                other.overtaken_by_peers += 1
                if other.overtaken_by_peers > limit * (other.ahead + other.next_index + 1):
                    expect(5, False, "job %s starves among equals", other.job.id)
