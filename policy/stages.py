"""Between admission and proof: ready partitions wait for a slot, synthesized ones for a device."""

from bisect import insort
from operator import attrgetter

from policy.decisions import Decision, EvictFromDevice, Prove, Synthesize, Upload
from policy.devices import DevicePool, Place
from policy.model import Limits
from policy.protocol import WaitCause
from policy.records import PartitionRecord
from policy.states import LOADING, READY, SYNTHESIZED, PartitionState
from policy.waits import WaitClock

# As names of this module, as in `policy.states`.
LOAD, SYNTHESIS_SLOT, LOOKAHEAD, TURN = (
    WaitCause.LOAD,
    WaitCause.SYNTHESIS_SLOT,
    WaitCause.LOOKAHEAD,
    WaitCause.TURN,
)
DEVICE, DEVICE_MEMORY = WaitCause.DEVICE, WaitCause.DEVICE_MEMORY

_order = attrgetter("order")  # of a record


class Stages:
    """Two short queues in the order of turn, the synthesis slots, and the device workers."""

    def __init__(self, limits: Limits) -> None:
        self._slots = limits.synthesis_slots
        self._lookahead = limits.synthesis_lookahead
        self._lookahead_bytes = limits.lookahead_bytes
        self._overtake_limit = limits.overtake_limit
        self.devices = DevicePool(limits.devices)
        self.ready: list[PartitionRecord] = []
        self.synthesized: list[PartitionRecord] = []
        self.loading = 0  # partitions, not entries
        self.synthesizing = 0
        self.ahead_bytes = 0  # working sets of partitions that no device has yet
        self._load, self._slot, self._device = WaitClock(LOAD), WaitClock(), WaitClock()

    def closed_to(self) -> tuple[WaitCause | None, WaitCause | None]:
        """Why no partition may be admitted that can synthesize at once, and none that has to load first.

        None where one may. Entries are loaded for as many as can synthesize next, not more.
        """
        if self._lookahead_bytes is not None and not self.bytes_open():
            return LOOKAHEAD, LOOKAHEAD
        synthesizing, waiting = self.synthesizing, len(self.synthesized)
        why_not_hot: WaitCause | None = LOOKAHEAD
        if synthesizing >= self._slots:
            why_not_hot = SYNTHESIS_SLOT
        elif waiting < self._lookahead or waiting + synthesizing < self.devices.idle_workers:
            why_not_hot = None  # as in `may_synthesize`
        return why_not_hot, None if self.loading + len(self.ready) < self._slots else TURN

    def may_synthesize(self) -> bool:
        """Whether a slot is free, and what synthesizes next will not pile up before the devices."""
        synthesizing = self.synthesizing
        if synthesizing >= self._slots:
            return False
        waiting = len(self.synthesized)
        return waiting < self._lookahead or waiting + synthesizing < self.devices.idle_workers

    def bytes_open(self) -> bool:
        """Whether working sets without a device take less than they may, or a worker has none to come."""
        if self._lookahead_bytes is None or self.ahead_bytes < self._lookahead_bytes:
            return True
        ahead = self.loading + len(self.ready) + self.synthesizing + len(self.synthesized)
        return ahead < self.devices.idle_workers

    def tell_causes(self, now_s: float) -> None:
        """Note what the queues wait for from now on; whatever could start has been started."""
        if self.ready:
            cause = SYNTHESIS_SLOT if self.synthesizing >= self._slots else LOOKAHEAD
            if cause is not self._slot.cause:
                self._slot.turn(cause, now_s)
        if self.synthesized:
            cause = DEVICE_MEMORY if self.devices.idle_workers else DEVICE
            if cause is not self._device.cause:
                self._device.turn(cause, now_s)

    def take(self, record: PartitionRecord, decisions: list[Decision], now_s: float) -> None:
        """An admitted partition comes, with its entries in memory or loading."""
        assert record.reservation is not None, f"{record.id} comes without a reservation"
        self.ahead_bytes += record.reservation.size_bytes
        if record.state is LOADING:
            self.loading += 1
            record.waited.enter(self._load, now_s)
        else:  # it would not have been admitted if it could not at once
            self._synthesize(record, decisions)

    def loaded(self, record: PartitionRecord, now_s: float) -> None:
        self.loading -= 1
        self._put_ready(record, now_s)

    def _put_ready(self, record: PartitionRecord, now_s: float) -> None:
        insort(self.ready, record, key=_order)
        record.waited.enter(self._slot, now_s)

    def synthesis_ended(self, record: PartitionRecord, now_s: float) -> None:
        if record.slot:
            record.slot = False
            self.synthesizing -= 1
        if record.state is SYNTHESIZED:
            insort(self.synthesized, record, key=_order)
            record.waited.enter(self._device, now_s)

    def leave(self, record: PartitionRecord, state: PartitionState, now_s: float) -> None:
        """The partition no longer waits for what those in `state` wait for."""
        if state is LOADING:
            self.loading -= 1
        elif state is READY:
            self.ready.remove(record)
        elif state is SYNTHESIZED:
            self.synthesized.remove(record)
        record.waited.leave(now_s)

    def give_back(self, record: PartitionRecord, now_s: float) -> None:
        """Slot, worker and device memory, and its part of what is ahead of the devices."""
        if record.slot:
            record.slot = False
            self.synthesizing -= 1
        if record.device is not None:
            self.devices.give_back(record.device, record.id, now_s)
            record.device = None
        elif record.reservation is not None:
            self.ahead_bytes -= record.reservation.size_bytes

    def start_proving(self, decisions: list[Decision], now_s: float) -> None:
        """Give idle workers work; who lacks device memory is passed, but only so often."""
        passed: list[PartitionRecord] = []
        for record in list(self.synthesized):
            if not self.devices.idle_workers:
                break
            circuit = record.job.circuit
            place = self.devices.pick(circuit.circuit, circuit.estimate.device_bytes)
            if place is not None:
                self._prove(record, place, decisions, now_s)
                for other in passed:
                    other.overtaken += 1
            elif record.overtaken >= self._overtake_limit:
                break
            else:
                passed.append(record)

    def _prove(self, record: PartitionRecord, place: Place, decisions: list[Decision], now_s: float) -> None:
        self.synthesized.remove(record)
        record.waited.leave(now_s)
        record.advance(Prove)
        assert record.reservation is not None, f"{record.id} proves without a reservation"
        self.ahead_bytes -= record.reservation.size_bytes
        workers, evictions = place
        record.device = workers
        name, circuit = workers.device.name, record.job.circuit
        for cached in evictions:
            workers.entries.evict(cached)
            decisions.append(EvictFromDevice(name, cached.entry))
        entry, device_bytes = circuit.circuit.device_entry, circuit.estimate.device_bytes
        missing = self.devices.take(workers, record.id, circuit.circuit, device_bytes, now_s)
        if missing and entry is not None:
            decisions.append(Upload(name, entry))
        decisions.append(Prove(record.id, name))

    def start_synthesis(self, decisions: list[Decision], now_s: float) -> None:
        while self.ready and self.may_synthesize():
            record = self.ready.pop(0)
            record.waited.leave(now_s)
            self._synthesize(record, decisions)

    def _synthesize(self, record: PartitionRecord, decisions: list[Decision]) -> None:
        record.advance(Synthesize)
        record.slot = True
        self.synthesizing += 1
        decisions.append(Synthesize(record.id))
