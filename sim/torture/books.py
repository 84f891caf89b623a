"""What the machine holds, added up from events and decisions alone: the checker's own account of a run.

It shares nothing with the policy but the messages, so that a fault in the policy's bookkeeping shows.
`sim.torture.rules` says what must hold in it.
"""

from collections.abc import Callable, Iterable
from typing import Any

from policy import (
    Admit,
    Complete,
    Decision,
    Evict,
    EvictFromDevice,
    Fail,
    Limits,
    Load,
    Prove,
    Reject,
    Stop,
    Synthesize,
    Upload,
    WakeAt,
)
from sim.torture.happenings import Happenings
from sim.torture.holdings import Held
from sim.torture.on_devices import HeldDevice, Stored, rightly_evicted, well_chosen
from sim.torture.violation import expect


class Books(Happenings):
    """`happen` takes an event, `execute` a decision, with the rules about each decision by itself."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        self._before_proof: list[EvictFromDevice | Upload] = []  # what the next proof takes
        self.executions: dict[type, Callable[[Any], None]] = {
            Stop: self._stop,
            Evict: self._evict,
            Admit: self._admit,
            Load: self._load,
            Synthesize: self._synthesize,
            EvictFromDevice: self._comes_before_proof,
            Upload: self._comes_before_proof,
            Prove: self._prove,
            Complete: self._end,
            Fail: self._end,
            Reject: self._end,
            WakeAt: self._wake_at,
        }

    def execute(self, decision: Decision) -> None:
        self.executions[type(decision)](decision)

    def _stop(self, decision: Stop) -> None:
        held = self.partitions[decision.partition]
        expect(6, held.job.failing and not held.stopping, "%s was stopped without cause or twice", held.id)
        held.stopping = True
        self.queue.pop(held.id, None)

    def _evict(self, decision: Evict) -> None:
        stored = self.idle.pop(decision.entry.key, None)
        if stored is None:
            used = self.stored.get(decision.entry.key)
            state = "not in memory" if used is None else "loading" if used.loading else "in use"
            expect(4, False, "entry %s was evicted while %s", decision.entry.key, state)
            return
        del self.stored[decision.entry.key]
        self.changes += 1
        self.idle_bytes -= stored.size_bytes
        self.host_bytes -= stored.size_bytes

    def _admit(self, decision: Admit) -> None:
        partition = decision.partition
        running = self.jobs[partition.job_id]
        expected = running.expected
        expect(3, decision.reserved_bytes == expected.working_bytes, "%s reserves other bytes", partition)
        if running.started_s is None:
            running.started_s = self.now_s
        waiting = self.line.admit(partition, self.now_s)
        held = Held(running, partition, decision.reserved_bytes, expected.phase1_bytes, waiting)
        self.partitions[partition] = running.live[partition] = self.admitted[partition] = held
        self.holding += 1
        self.ahead_bytes += decision.reserved_bytes
        self._take_bytes(decision.reserved_bytes)

    def use_entries(self, admitted: Iterable[Held]) -> None:
        """Of those just admitted, after their loads were decided: rule 3 says that nothing is left out."""
        for held in admitted:
            for key in held.keys:
                stored = self.stored.get(key)
                if stored is None:
                    expect(3, False, "%s was admitted without its entry %s", held.id, key)
                    continue
                stored.users += 1
                if self.idle.pop(key, None) is not None:
                    self.idle_bytes -= stored.size_bytes

    def _load(self, decision: Load) -> None:
        entry = decision.entry
        expect(3, entry.key not in self.stored, "entry %s was loaded twice", entry.key)
        self.stored[entry.key] = Stored(entry, loading=True)
        self.loading += 1
        self.changes += 1
        self._take_bytes(entry.size_bytes)

    def _synthesize(self, decision: Synthesize) -> None:
        held = self.partitions[decision.partition]
        ready = held.at == "admitted" and self.in_memory(held.expected)
        expect(3, ready, "%s synthesizes without its entries, or twice", held.id)
        held.at = "synthesizing"
        del self.admitted[held.id]
        self.synthesizing += 1
        expect(1, self.synthesizing <= self.limits.synthesis_slots, "more synthesize than there are slots")

    def _comes_before_proof(self, decision: EvictFromDevice | Upload) -> None:
        self._before_proof.append(decision)

    def _prove(self, decision: Prove) -> None:
        held = self.queue.pop(decision.partition, None)
        if held is None:
            expect(7, False, "%s proves, and does not wait for a device", decision.partition)
            return
        device = self.devices[decision.device]
        held.device_bytes = held.expected.device_bytes
        expect(1, device.idle_workers > 0, "device %s has no worker for %s", decision.device, held.id)
        if self._before_proof or held.circuit.device_entry is not None:
            well_chosen(self.devices.values(), device, held.circuit, held.device_bytes)
            self._make_room(device, held)
        device.busy += 1
        device.used_bytes += device.needs(held.device_bytes)
        own_bytes = device.device.memory_bytes
        if own_bytes is not None and device.used_bytes > own_bytes:
            expect(1, False, "device %s has no room for %s", decision.device, held.id)
        held.at = "proving"
        held.device = device
        self.ahead_bytes -= held.host_bytes
        self.idle_workers -= 1
        for other in self.queue.values():
            other.passed += 1

    def _make_room(self, device: HeldDevice, held: Held) -> None:
        """Evict what was decided, and have the entry there."""
        before, self._before_proof = self._before_proof, []
        here = all(each.device == device.device.name for each in before)
        expect(4, here, "entries go or come where %s does not prove", held.id)
        evicted = [each.entry.key for each in before if type(each) is EvictFromDevice]
        if evicted:
            rightly_evicted(device, evicted, held.circuit, held.device_bytes)
        for key in evicted:
            del device.idle[key]
            device.used_bytes -= device.stored.pop(key).size_bytes
        entry = device.entry_of(held.circuit)
        sent = [each.entry for each in before if type(each) is Upload]
        missing = [] if entry is None or entry.key in device.stored else [entry]
        expect(3, sent == missing, "%s needs %s to be sent, sent were %s", held.id, missing, sent)
        for each in sent:
            device.stored[each.key] = Stored(each, loading=False)
            device.used_bytes += each.size_bytes
        if entry is not None:
            device.stored[entry.key].users += 1
            device.idle.pop(entry.key, None)

    def none_before_proof(self) -> None:
        """At the end of an answer."""
        if self._before_proof:
            expect(4, False, "for nobody: %s", self._before_proof)

    def _end(self, decision: Complete | Fail | Reject) -> None:
        running = self.jobs.pop(decision.job_id, None)
        if running is None:
            expect(6, False, "job %s ended, and does not run", decision.job_id)
            return
        expect(6, not running.live, "job %s ended with work running", decision.job_id)
        if type(decision) is Complete:
            done = running.verified == running.job.partitions and not running.failing
            expect(6, done, "job %s is complete, and not all is verified", decision.job_id)
        else:
            refused = type(decision) is Reject
            expect(6, running.failing != refused, "job %s failed without cause", decision.job_id)
        self.line.leave(decision.job_id)

    def _wake_at(self, decision: WakeAt) -> None:
        expect(7, decision.at_s > self.now_s, "a timer was set for %s s, in the past", decision.at_s)
        self.wake_at_s = decision.at_s
