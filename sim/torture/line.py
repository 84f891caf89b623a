"""Who waits for admission, as the rules see it: ranks, and how often each was overtaken."""

from collections.abc import Iterator
from dataclasses import replace

from policy import Circuit, Job, Limits, PartitionId
from sim.torture.violation import expect

Rank = tuple[float, int]


class Waiting:
    """A job with partitions that were not admitted; `ahead` partitions waited in its group when it came."""

    __slots__ = ("ahead", "group", "job", "next_index", "overtaken_by_peers", "rank")

    def __init__(self, job: Job, rank: Rank, group: "Group") -> None:
        self.job = job
        self.rank = rank
        self.group = group
        self.ahead = group.left
        self.next_index = 0
        self.overtaken_by_peers = 0  # ever, by later jobs of its priority and another circuit


class Group:
    """Jobs of one circuit and priority need the same: the first of them stands for all."""

    __slots__ = ("circuit", "head", "jobs", "left", "overtaken", "priority")

    head: Waiting

    def __init__(self, job: Job) -> None:
        self.circuit: Circuit = job.circuit
        self.priority = job.priority
        self.jobs: dict[str, Waiting] = {}
        self.left = 0  # partitions
        self.overtaken = 0  # its head, since it became the head or last got a partition admitted


class Line:
    """All that wait, and rule 5 at every admission."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._sequence = 0
        self._waiting: dict[str, Waiting] = {}
        self._groups: dict[tuple[int, Circuit], Group] = {}
        self.groups: list[Group] = []

    def __iter__(self) -> Iterator[Waiting]:
        return iter(self._waiting.values())

    def __len__(self) -> int:
        return len(self._waiting)

    def waits(self, job_id: str) -> bool:
        return job_id in self._waiting

    def find(self, job_id: str) -> Waiting:
        return self._waiting[job_id]

    def resize(self, budget_bytes: int) -> Limits:
        self._limits = replace(self._limits, budget_bytes=budget_bytes)
        return self._limits

    def join(self, job: Job, now_s: float) -> None:
        self._sequence += 1
        group = self._groups.get((job.priority, job.circuit))
        if group is None:
            group = self._groups[job.priority, job.circuit] = Group(job)
            self.groups.append(group)
        rank = (now_s + job.priority * self._limits.ageing_s, self._sequence)
        waiting = Waiting(job, rank, group)
        if not group.jobs:
            group.head = waiting
        group.jobs[job.id] = self._waiting[job.id] = waiting
        group.left += job.partitions

    def leave(self, job_id: str) -> None:
        """Forget the job, if it waits."""
        waiting = self._waiting.pop(job_id, None)
        if waiting is None:
            return
        group = waiting.group
        del group.jobs[job_id]
        group.left -= waiting.job.partitions - waiting.next_index
        if not group.jobs:
            del self._groups[group.priority, group.circuit]
            self.groups.remove(group)
        elif group.head is waiting:
            group.overtaken = 0
            group.head = next(iter(group.jobs.values()))

    def admit(self, partition: PartitionId) -> None:
        waiting = self._waiting.get(partition.job_id)
        if waiting is None:
            expect(5, False, "%s was admitted, and its job does not wait", partition)
            return
        group = waiting.group
        in_order = group.head is waiting and partition.index == waiting.next_index
        expect(5, in_order, "%s was admitted out of the order of its group", partition)
        self._overtake(waiting)
        group.overtaken = 0
        group.left -= 1
        waiting.next_index += 1
        if waiting.next_index == waiting.job.partitions:
            self.leave(partition.job_id)

    def _overtake(self, waiting: Waiting) -> None:
        """Rule 5: whoever is passed was not passed too often before."""
        limit, rank = self._limits.overtake_limit, waiting.rank
        for group in self.groups:
            if group.head.rank < rank:
                group.overtaken += 1
                expect(5, group.overtaken <= limit, "job %s starves", group.head.job.id)
        for other in self._waiting.values():
            peers = other.group.priority == waiting.group.priority and other.group is not waiting.group
            if peers and other.rank < rank:
                other.overtaken_by_peers += 1
                fair = limit * (other.ahead + other.next_index + 1)
                expect(5, other.overtaken_by_peers <= fair, "job %s starves among equals", other.job.id)
