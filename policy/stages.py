"""Between admission and proof: ready partitions wait for a slot, synthesized ones for a device."""

from bisect import bisect_left, insort

from policy.decisions import Decision, Prove, Synthesize
from policy.devices import DevicePool
from policy.model import Limits
from policy.records import PartitionRecord


class Stages:
    """Two short queues in the order of turn, the synthesis slots, and the device workers."""

    def __init__(self, limits: Limits) -> None:
        self._slots = limits.synthesis_slots
        self._lookahead = limits.synthesis_lookahead
        self._overtake_limit = limits.overtake_limit
        self.devices = DevicePool(limits.devices)
        self.ready: list[PartitionRecord] = []
        self.synthesized: list[PartitionRecord] = []
        self.loading = 0  # partitions, not entries
        self.synthesizing = 0

    def may_synthesize(self) -> bool:
        return self.synthesizing < self._slots and self.lookahead_open()

    def lookahead_open(self) -> bool:
        """Whether what synthesizes next will not pile up before the devices."""
        waiting = len(self.synthesized)
        return waiting < self._lookahead or waiting + self.synthesizing < self.devices.idle_workers

    def may_load(self) -> bool:
        """Entries are loaded for as many partitions as can synthesize next, not more."""
        return self.loading + len(self.ready) < self._slots

    def put_ready(self, record: PartitionRecord) -> None:
        insort(self.ready, record, key=_order)

    def put_synthesized(self, record: PartitionRecord) -> None:
        insort(self.synthesized, record, key=_order)

    def withdraw(self, record: PartitionRecord) -> None:
        """Take the partition out of the queue it may wait in."""
        for queue in (self.ready, self.synthesized):
            at = bisect_left(queue, record.order, key=_order)
            if at < len(queue) and queue[at] is record:
                del queue[at]

    def start_proving(self, decisions: list[Decision]) -> None:
        """Give idle workers work; who lacks device memory is passed, but only so often."""
        if not (self.synthesized and self.devices.idle_workers):
            return
        passed: list[PartitionRecord] = []
        for record in list(self.synthesized):
            if not self.devices.idle_workers:
                break
            workers = self.devices.pick(record.job.job.circuit.device_bytes)
            if workers is not None:
                self.withdraw(record)
                record.advance(Prove)
                record.device = workers
                self.devices.take(workers, record.id, record.job.job.circuit.device_bytes)
                for other in passed:
                    other.overtaken += 1
                decisions.append(Prove(record.id, workers.device.name))
            elif record.overtaken >= self._overtake_limit:
                break
            else:
                passed.append(record)

    def start_synthesis(self, decisions: list[Decision]) -> None:
        while self.ready and self.may_synthesize():
            record = self.ready.pop(0)
            record.advance(Synthesize)
            record.slot = True
            self.synthesizing += 1
            decisions.append(Synthesize(record.id))

    def free_slot(self, record: PartitionRecord) -> None:
        if record.slot:
            record.slot = False
            self.synthesizing -= 1

    def free_worker(self, record: PartitionRecord) -> None:
        if record.device is not None:
            self.devices.give_back(record.device, record.id)
            record.device = None


def _order(record: PartitionRecord) -> tuple[tuple[float, int, int], int]:
    return record.order
