"""A machine in SimPy on which everything goes wrong that a case says, under a checked policy."""

from policy import (
    BudgetPolicy,
    Cancel,
    DeviceLost,
    DeviceOutOfMemory,
    Displaced,
    Failed,
    Loaded,
    PartitionId,
    ProtocolError,
    Proved,
    QuotientDone,
    Resized,
    Shared,
    Submit,
    Synthesized,
    Unload,
    Verified,
)
from sim.torture.case import At, Case, Crowded, Death, DeviceReset, Loss, Stage, Stray, Strike
from sim.torture.driver import ASK_EVERY, Driver, Logged, MakePolicy
from sim.torture.rules import CheckedPolicy
from sim.torture.violation import expect

REPORTS = (Loaded, Synthesized, QuotientDone, DeviceLost, Displaced, Proved, Verified)


class TortureMachine(Driver):
    """A driver with the case's faults."""

    def __init__(
        self, case: Case, make_policy: MakePolicy = BudgetPolicy, ask_every: int = ASK_EVERY
    ) -> None:
        super().__init__(case, make_policy, ask_every)
        self._strikes: dict[tuple[PartitionId, Stage], list[Strike]] = {}

    def run(self) -> None:
        """To the end. Raises ViolationError, and whatever the policy raises."""
        for arrival in self._case.arrivals:
            self._after(arrival.at_s, self._arrive, arrival)
        for fault in self._case.faults:
            if isinstance(fault, At):
                self._after(fault.at_s, self._happen, fault.what)
            elif isinstance(fault, Strike):
                self._strikes.setdefault((fault.partition, fault.stage), []).append(fault)
        self._env.run()
        self._nothing_is_left()

    def _nothing_is_left(self) -> None:
        books, policy = self._checked.books, self._checked.policy
        for partition in books.partitions:
            expect(7, False, "nothing happens any more, and %s", policy.explain(partition))
        for waiting in books.line:
            partition = PartitionId(waiting.job.id, waiting.next)
            expect(7, False, "nothing happens any more, and %s", policy.explain(partition))
        expect(6, not books.jobs, "jobs did not end: %s", list(books.jobs))
        expect(6, policy.reserved_bytes == books.idle_bytes, "%s bytes stay reserved", policy.reserved_bytes)

    def _reached(self, partition: PartitionId, stage: Stage) -> None:
        """Strikes strike once, not a retried job again."""
        if stage == "proved":  # before, there is nothing to measure
            super()._reached(partition, stage)
        if self._strikes:
            for strike in self._strikes.pop((partition, stage), ()):
                self._after(strike.after_s, self._happen, _event_of(strike))

    def _happen(self, what: object) -> None:
        match what:
            case Cancel() | Resized() | Shared() | Unload() as event:
                self._send(event)
            case Failed(partition, why):
                self._fail(partition, why)
            case DeviceReset(name):
                for partition in self._proving_on(name):
                    self._fail(partition, "device reset")
            case Loss(name):
                self._lose(name)
            case Displaced(partition):
                self._displace(partition)
            case DeviceOutOfMemory(partition):
                self._lack_device_memory(partition)
            case Crowded(name):
                for partition in self._proving_on(name):
                    self._lack_device_memory(partition)
            case Stray():
                self._stray()
            case Death():
                self._die()

    def _lack_device_memory(self, partition: PartitionId) -> None:
        """Of a partition that proves, if it does."""
        held = self._checked.books.partitions.get(partition)
        if held is not None and held.device is not None:
            self._work.drop(partition)
            self._send(DeviceOutOfMemory(partition))

    def _lose(self, device: str) -> None:
        """What it proves is displaced now, or later, or comes to its end all the same."""
        if self._checked.books.devices[device].lost:
            return
        self._send(DeviceLost(device))
        for partition in self._proving_on(device):
            patience = self._pace.draw(self._arrivals[partition.job_id].number, partition.index, 10)
            if patience < 1.0:
                self._displace(partition)
            elif patience < 2.0:
                self._after(patience, self._happen, Displaced(partition))

    def _displace(self, partition: PartitionId) -> None:
        """Of a partition that a lost device proves, if it does still."""
        held = self._checked.books.partitions.get(partition)
        if held is not None and held.device is not None and held.device.lost:
            self._work.drop(partition)
            self._send(Displaced(partition))

    def _stray(self) -> None:
        """What cannot be is refused, and changes nothing: what comes after would show it."""
        last = self.log[-1].event if self.log else None
        stray = last if isinstance(last, REPORTS) else Loaded("nothing")
        try:
            self._checked.policy.handle(stray, self._env.now)
        except ProtocolError:
            return
        expect(0, False, "%s was taken a second time", stray)

    def _proving_on(self, device: str) -> list[PartitionId]:
        held_by = self._checked.books.partitions.values()
        return [held.id for held in held_by if held.device is not None and held.device.device.name == device]

    def _fail(self, partition: PartitionId, why: str) -> None:
        """Of a partition that is admitted, or waits, if it is."""
        books = self._checked.books
        if partition not in books.partitions:
            waits = books.line.waits(partition.job_id)
            if not waits or not books.line.find(partition.job_id).waits(partition.index):
                return
        self._work.drop(partition)
        self._send(Failed(partition, why))

    def _die(self) -> None:
        unfinished = [running.job for running in self._checked.books.jobs.values()]
        limits = self._checked.books.limits
        self._checked = CheckedPolicy(self._make_policy(limits), limits, ask_every=self._ask_every)
        self._work.clear()
        self._timer = None
        self.log.append(Logged(self._env.now, Death(), []))
        for job in unfinished:
            self._send(Submit(job))


def _event_of(strike: Strike) -> Cancel | Failed | DeviceOutOfMemory:
    partition = strike.partition
    if strike.blow == "cancel":
        return Cancel(partition.job_id)
    if strike.blow == "fail":
        return Failed(partition, f"while {strike.stage}")
    return DeviceOutOfMemory(partition)
