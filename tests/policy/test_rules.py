"""All rules as invariants, under whatever a machine and its users may do."""

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from policy import (
    Admit,
    BudgetPolicy,
    Cancel,
    Circuit,
    Complete,
    Decision,
    Device,
    DeviceLost,
    DeviceOutOfMemory,
    Displaced,
    Entry,
    Event,
    Fail,
    Failed,
    FixedConcurrency,
    Job,
    Limits,
    Loaded,
    LoadFailed,
    Measured,
    PartitionId,
    Priority,
    ProtocolError,
    Proved,
    QuotientDone,
    Reject,
    Resized,
    Shared,
    Submit,
    Synthesized,
    Tick,
    Unload,
    Verified,
)
from sim.torture.books import Books
from sim.torture.room import InNumber
from sim.torture.rules import CheckedPolicy

NEXT = {
    "synthesizing": [Synthesized],
    "proving": [QuotientDone, Proved],
    "quotient": [Proved],
    "proved": [Verified],
}
ENTRY_BYTES = st.integers(0, 2) | st.integers(3, 12)

devices = st.lists(st.tuples(st.integers(1, 2), st.none() | st.integers(4, 12)), min_size=1, max_size=2).map(
    lambda drawn: tuple(Device(f"device{i}", *each) for i, each in enumerate(drawn))
)
limits = st.builds(
    Limits,
    budget_bytes=st.integers(12, 30),
    synthesis_slots=st.integers(1, 3),
    devices=devices,
    synthesis_lookahead=st.integers(0, 2),
    eviction_min_idle_s=st.sampled_from([0.0, 3.0]),
    overtake_limit=st.integers(0, 3),
    ageing_s=st.sampled_from([0.0, 5.0, 1000.0]),
    lookahead_bytes=st.none() | st.integers(1, 12),
    sort_by_type=st.booleans(),
    max_batch_size=st.integers(1, 3),
    max_batch_wait_s=st.sampled_from([0.0, 4.0]),
)


@st.composite
def circuits(draw: st.DrawFn) -> list[Circuit]:
    sizes = draw(st.lists(ENTRY_BYTES, min_size=3, max_size=3))
    entries = [Entry(f"entry{i}", size) for i, size in enumerate(sizes)]
    device_entries = st.none() | st.builds(Entry, st.just("key"), st.just(draw(st.integers(0, 6))))
    device_entries |= st.builds(Entry, st.just("other key"), st.just(draw(st.integers(0, 6))))
    return [
        Circuit(
            f"circuit{i}",
            tuple(draw(st.lists(st.sampled_from(entries), max_size=2, unique=True))),
            draw(st.integers(0, 4)),
            draw(st.integers(0, 4)),
            draw(st.integers(0, 8)),
            draw(device_entries),
        )
        for i in range(draw(st.integers(1, 3)))
    ]


class Machine(RuleBasedStateMachine):
    """Every rule draws what happens next among what can; the checked policy checks all rules after each."""

    budgets = (5, 12, 20, 30, 40)
    shares = st.integers(0, 30)

    @initialize(limits=limits, circuits=circuits())
    def start(self, limits: Limits, circuits: list[Circuit]) -> None:
        self.circuits = circuits
        self.submitted = 0
        self.now_s = 0.0
        self.ends: dict[str, Decision] = {}
        self.set_up(limits)

    def set_up(self, limits: Limits) -> None:
        self.checked = CheckedPolicy(BudgetPolicy(limits), limits)

    @property
    def books(self) -> Books:
        return self.checked.books

    def send(self, event: Event) -> list[Decision]:
        decisions = self.checked.handle(event, self.now_s)
        for decision in decisions:
            if isinstance(decision, Complete | Fail | Reject):
                self.ends[decision.job_id] = decision
        return decisions

    @rule(
        data=st.data(),
        partitions=st.integers(1, 3),
        priority=st.sampled_from(Priority),
        due_s=st.none() | st.floats(0, 20),
    )
    def submit(self, data: st.DataObject, partitions: int, priority: Priority, due_s: float | None) -> None:
        self.submitted += 1
        circuit = data.draw(st.sampled_from(self.circuits))
        self.send(Submit(Job(f"job{self.submitted}", circuit, partitions, priority, due_s)))

    @rule(data=st.data(), steps=st.integers(1, 8))
    def work_goes_on(self, data: st.DataObject, steps: int) -> None:
        for _ in range(steps):
            if possible := self.possible():
                self.send(data.draw(st.sampled_from(possible)))

    def possible(self) -> list[Event]:
        """What loads, work and stops may report."""
        loading = [stored.entry for stored in self.books.stored.values() if stored.loading]
        sizes = [(entry.key, size) for entry in loading for size in (None, 0, entry.size_bytes // 2)]
        events: list[Event] = [Loaded(key, size_bytes) for key, size_bytes in sizes]
        for partition, held in self.books.partitions.items():
            events += [kind(partition) for kind in NEXT.get(held.at, [])]
            if held.device is not None and held.device.lost:
                events.append(Displaced(partition))
            if held.stopping:
                events.append(Failed(partition, "stopped"))
        return events

    @rule(seconds=st.sampled_from([0.5, 1.0, 4.0]))
    def time_passes(self, seconds: float) -> None:
        self.now_s += seconds
        self.send(Tick())

    @rule(data=st.data())
    def an_entry_is_unwanted(self, data: st.DataObject) -> None:
        """Idle, in use, on its way or not there: the checked policy knows what is to come of it."""
        keys = {entry.key for circuit in self.circuits for entry in circuit.entries}
        self.send(Unload(data.draw(st.sampled_from(sorted({*keys, *self.books.stored, "nothing"})))))

    @rule(data=st.data(), working_bytes=st.integers(0, 12))
    def a_partition_is_measured(self, data: st.DataObject, working_bytes: int) -> None:
        if self.books.partitions:
            partition = data.draw(st.sampled_from(list(self.books.partitions)))
            self.send(Measured(partition, working_bytes))

    @rule(data=st.data())
    def a_device_is_out_of_memory(self, data: st.DataObject) -> None:
        if proving := [held.id for held in self.books.partitions.values() if held.device is not None]:
            self.send(DeviceOutOfMemory(data.draw(st.sampled_from(proving))))

    @rule(data=st.data())
    def a_device_is_lost(self, data: st.DataObject) -> None:
        """Nothing has to come of it at once: its partitions may be displaced later, or proved."""
        if left := [name for name, device in self.books.devices.items() if not device.lost]:
            self.send(DeviceLost(data.draw(st.sampled_from(left))))

    @rule(data=st.data())
    def others_take_or_leave(self, data: st.DataObject) -> None:
        """A share that is wanted and given is used at once."""
        wanted = self.checked.policy.wanted_share(self.now_s)
        if wanted is None:
            self.send(Shared(data.draw(self.shares)))
            return
        assert self.books.limit_bytes < wanted.least_bytes <= wanted.most_bytes
        assert wanted.most_bytes <= self.books.limits.budget_bytes
        given_bytes = data.draw(st.integers(wanted.least_bytes - 1, wanted.most_bytes))
        admits = any(isinstance(decision, Admit) for decision in self.send(Shared(given_bytes)))
        assert admits or given_bytes < wanted.least_bytes

    @rule(
        data=st.data(), what=st.sampled_from(["load", "partition", "waiting", "cancel", "resize", "nonsense"])
    )
    def something_goes_wrong(self, data: st.DataObject, what: str) -> None:
        if what == "nonsense":
            self.nonsense_changes_nothing(data)
        elif faults := self.faults(what):
            self.send(data.draw(st.sampled_from(faults)))

    def faults(self, what: str) -> list[Event]:
        if what == "load":
            return [LoadFailed(key, "disk") for key, stored in self.books.stored.items() if stored.loading]
        if what == "partition":
            return [Failed(partition, "device") for partition in self.books.partitions]
        if what == "waiting":
            return [Failed(PartitionId(w.job.id, w.job.partitions - 1), "input") for w in self.books.line]
        if what == "cancel":
            return [Cancel(f"job{number}") for number in range(1, self.submitted + 1)]
        return [Resized(budget_bytes) for budget_bytes in self.budgets]

    def nonsense_changes_nothing(self, data: st.DataObject) -> None:
        stray = PartitionId("nobody", 0)
        wrong = [Loaded("nothing"), Synthesized(stray), Failed(stray, ""), Verified(PartitionId("job1", 99))]
        for partition, held in self.books.partitions.items():
            kinds = (Synthesized, QuotientDone, Proved, Verified)
            wrong += [kind(partition) for kind in kinds if kind not in NEXT.get(held.at, [])]
            if held.device is None or not held.device.lost:
                wrong.append(Displaced(partition))
        wrong += [DeviceLost("nothing")]
        wrong += [DeviceLost(name) for name, device in self.books.devices.items() if device.lost]
        with pytest.raises(ProtocolError):
            self.checked.handle(data.draw(st.sampled_from(wrong)), self.now_s)

    def teardown(self) -> None:
        """Whatever was left lying comes to an end, and gives back all it held."""
        if not hasattr(self, "checked"):
            return
        self.send(Shared(10**9))
        while self.books.jobs or not self.books.stalled:
            self.send(self.something_that_happens())
        assert self.books.host_bytes == self.books.idle_bytes
        work = self.checked.policy._work
        for device in work.stages.devices._all:
            assert not device.busy
            assert device.memory.reserved_bytes == device.entries.idle_bytes
        waiting, circuits, stages = work.waiting, work.circuits, work.stages
        queues = (waiting.line.blocks, waiting.gathering.blocks, waiting._holders, waiting._gatherers)
        for left in (
            *queues,
            circuits._records,
            circuits._by_entry,
            circuits._by_device_entry,
            work._awaiting,
            stages.ready,
        ):
            assert not left
        assert (stages.loading, stages.synthesizing, stages.ahead_bytes, work.holding) == (0, 0, 0, 0)

    def something_that_happens(self) -> Event:
        """An event that must come by itself; there always is one, or the work is stalled."""
        if possible := self.possible():
            return possible[-1]
        assert self.books.wake_at_s is not None, f"{self.books.jobs} wait, and nothing will happen"
        self.now_s = self.books.wake_at_s
        return Tick()


class FixedMachine(Machine):
    def set_up(self, limits: Limits) -> None:
        unlimited = Limits(10**9, limits.synthesis_slots, limits.devices)
        self.checked = CheckedPolicy(FixedConcurrency(unlimited, 2), unlimited, InNumber(2))

    budgets = (10**9,)  # bytes bind nothing here
    shares = st.just(10**9)


TestBudgetPolicy = Machine.TestCase
TestBudgetPolicy.settings = settings(max_examples=200, stateful_step_count=40, deadline=None)
TestFixedConcurrency = FixedMachine.TestCase
TestFixedConcurrency.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


def test_a_world_without_faults_completes_every_job() -> None:
    limits = Limits(20, 2, (Device("cpu", 1),))
    machine = Machine()
    machine.start(limits, [Circuit("a", (Entry("x", 5),), 2, 2), Circuit("b", (Entry("y", 9),), 3, 3)])
    for i in range(10):
        machine.send(Submit(Job(str(i), machine.circuits[i % 2], 2)))
    machine.teardown()
    assert machine.ends == {str(i): Complete(str(i)) for i in range(10)}
