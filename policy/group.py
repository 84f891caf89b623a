"""Jobs that need the same, and so wait together."""

from bisect import bisect_left

from policy.circuits import CircuitRecord, Rank
from policy.line import Block, Place
from policy.model import Priority
from policy.records import JobRecord
from policy.waits import GroupWaited


class Group:
    """Waiting jobs of one circuit and priority, in the order of turn; never empty."""

    __slots__ = (
        "_places",
        "batch_left",
        "block",
        "circuit",
        "gathers_since_s",
        "head",
        "hot",
        "jobs",
        "needed_bytes",
        "overtaken",
        "place",
        "priority",
        "rank",
        "waited",
    )

    def __init__(self, first: JobRecord, batch_size: int, waited: GroupWaited) -> None:
        self.circuit: CircuitRecord = first.circuit
        self.priority: Priority = first.job.priority
        self.jobs = [first]
        self._places = [first.place]  # of the jobs
        self.waited = waited
        self.batch_left = batch_size - 1
        self.gathers_since_s: float | None = None
        self.block: Block | None = None
        self.overtaken = 0
        self.look_up()
        self.renew()

    def look_up(self) -> None:
        """Take over what a partition needs now; of one in a line, that line asks."""
        circuit = self.circuit
        self.needed_bytes = circuit.estimate.working_bytes + circuit.missing_bytes
        self.hot = not circuit.absent

    def renew(self) -> None:
        """Another job has become the first: the group takes its turn."""
        self.head = self.jobs[0]
        self.rank: Rank = self.head.rank
        self.place: Place = self.head.place

    def go_to(self, place: Place) -> None:
        """The first job, and with it the group, has another place; not while the group is in a line."""
        self.head.place = self.place = self._places[0] = place

    def insert(self, record: JobRecord) -> bool:
        """Whether the job is the first now."""
        position = bisect_left(self._places, record.place)
        self._places.insert(position, record.place)
        self.jobs.insert(position, record)
        return position == 0

    def remove(self, record: JobRecord) -> None:
        position = bisect_left(self._places, record.place)
        del self.jobs[position], self._places[position]
