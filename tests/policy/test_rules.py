"""All rules as invariants, under whatever a machine and its users may do."""

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from policy import (
    BudgetPolicy,
    Cancel,
    Circuit,
    Complete,
    Device,
    Entry,
    Failed,
    FixedConcurrency,
    Job,
    Limits,
    Loaded,
    LoadFailed,
    PartitionId,
    Priority,
    ProtocolError,
    Proved,
    QuotientDone,
    Resized,
    Submit,
    Synthesized,
    Tick,
    Verified,
)
from tests.policy.rules import room_in_bytes, room_in_number, send
from tests.policy.world import World

NEXT = {
    "synthesizing": [Synthesized],
    "proving": [QuotientDone, Proved],
    "quotient": [Proved],
    "proved": [Verified],
}
ENTRY_BYTES = st.integers(0, 12)

devices = st.lists(st.tuples(st.integers(1, 2), st.none() | st.integers(4, 12)), min_size=1, max_size=2).map(
    lambda drawn: tuple(Device(f"device{i}", *each) for i, each in enumerate(drawn))
)
limits = st.builds(
    Limits,
    budget_bytes=st.integers(10, 40),
    synthesis_slots=st.integers(1, 3),
    devices=devices,
    synthesis_lookahead=st.integers(0, 2),
    eviction_min_idle_s=st.sampled_from([0.0, 3.0]),
    overtake_limit=st.integers(0, 3),
    ageing_s=st.sampled_from([0.0, 5.0, 1000.0]),
)


@st.composite
def circuits(draw: st.DrawFn) -> list[Circuit]:
    sizes = draw(st.lists(ENTRY_BYTES, min_size=3, max_size=3))
    entries = [Entry(f"entry{i}", size) for i, size in enumerate(sizes)]
    return [
        Circuit(
            f"circuit{i}",
            tuple(draw(st.lists(st.sampled_from(entries), max_size=2, unique=True))),
            draw(st.integers(0, 8)),
            draw(st.integers(0, 8)),
            draw(st.integers(0, 8)),
        )
        for i in range(draw(st.integers(1, 3)))
    ]


class Machine(RuleBasedStateMachine):
    """Every rule draws what happens next among what can; `send` checks all invariants after each."""

    @initialize(limits=limits, circuits=circuits())
    def start(self, limits: Limits, circuits: list[Circuit]) -> None:
        self.circuits = circuits
        self.submitted = 0
        self.set_up(limits)

    def set_up(self, limits: Limits) -> None:
        self.room = room_in_bytes
        self.world = World(BudgetPolicy(limits), limits, ceiling_bytes=limits.budget_bytes)

    def send(self, event: object) -> None:
        send(self.world, event, self.room)

    @rule(data=st.data(), partitions=st.integers(1, 4), priority=st.sampled_from(Priority))
    def submit(self, data: st.DataObject, partitions: int, priority: Priority) -> None:
        self.submitted += 1
        circuit = data.draw(st.sampled_from(self.circuits))
        self.send(Submit(Job(f"job{self.submitted}", circuit, partitions, priority)))

    @precondition(lambda self: any(stored.loading for stored in self.world.stored.values()))
    @rule(data=st.data(), fails=st.sampled_from([False, False, False, True]))
    def load_ends(self, data: st.DataObject, fails: bool) -> None:
        loading = [key for key, stored in self.world.stored.items() if stored.loading]
        key = data.draw(st.sampled_from(loading))
        self.send(LoadFailed(key, "disk") if fails else Loaded(key))

    @precondition(lambda self: self.world.at(*NEXT))
    @rule(data=st.data())
    def work_goes_on(self, data: st.DataObject) -> None:
        partition = data.draw(st.sampled_from(self.world.at(*NEXT)))
        kind = data.draw(st.sampled_from(NEXT[self.world.partitions[partition].at]))
        self.send(kind(partition))

    @precondition(lambda self: self.world.partitions)
    @rule(data=st.data())
    def partition_fails(self, data: st.DataObject) -> None:
        self.send(Failed(data.draw(st.sampled_from(list(self.world.partitions))), "device"))

    @precondition(lambda self: any(held.stopping for held in self.world.partitions.values()))
    @rule(data=st.data())
    def stop_is_answered(self, data: st.DataObject) -> None:
        stopping = [p for p, held in self.world.partitions.items() if held.stopping]
        self.send(Failed(data.draw(st.sampled_from(stopping)), "stopped"))

    @precondition(lambda self: self.world.waiting)
    @rule(data=st.data())
    def waiting_partition_fails(self, data: st.DataObject) -> None:
        waiting = data.draw(st.sampled_from(list(self.world.waiting.values())))
        self.send(Failed(PartitionId(waiting.job.id, waiting.job.partitions - 1), "input"))

    @precondition(lambda self: self.submitted)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        self.send(Cancel(f"job{data.draw(st.integers(1, self.submitted))}"))

    @rule(budget_bytes=st.integers(5, 40))
    def resize(self, budget_bytes: int) -> None:
        self.send(Resized(budget_bytes))

    @rule(seconds=st.sampled_from([0.5, 1.0, 4.0]))
    def time_passes(self, seconds: float) -> None:
        self.world.now_s += seconds
        self.send(Tick())

    @rule(data=st.data())
    def nonsense_changes_nothing(self, data: st.DataObject) -> None:
        stray = PartitionId("nobody", 0)
        wrong = [Loaded("nothing"), Synthesized(stray), Failed(stray, ""), Verified(PartitionId("job1", 99))]
        for partition, held in self.world.partitions.items():
            legal = NEXT.get(held.at, [])
            kinds = (Synthesized, QuotientDone, Proved, Verified)
            wrong += [kind(partition) for kind in kinds if kind not in legal]
        with pytest.raises(ProtocolError):
            self.world.policy.handle(data.draw(st.sampled_from(wrong)), self.world.now_s)

    def teardown(self) -> None:
        """Whatever was left lying comes to an end, and gives back all it held."""
        if not hasattr(self, "world"):
            return
        while self.world.running or not self.world.stalled():
            self.send(self.something_that_happens())
        assert self.world.host_bytes == sum(s.entry.size_bytes for s in self.world.idle().values())
        assert not any(device.busy for device in self.world.policy._work.stages.devices._all)

    def something_that_happens(self) -> object:
        """An event that must come by itself; there always is one, or the work is stalled."""
        for key, stored in self.world.stored.items():
            if stored.loading:
                return Loaded(key)
        for partition, held in self.world.partitions.items():
            if held.stopping:
                return Failed(partition, "stopped")
            if held.at in NEXT:
                return NEXT[held.at][-1](partition)
        assert self.world.wake_at_s is not None, f"{self.world.running} wait, and nothing will happen"
        self.world.now_s = self.world.wake_at_s
        return Tick()


class FixedMachine(Machine):
    def set_up(self, limits: Limits) -> None:
        unlimited = Limits(10**9, limits.synthesis_slots, limits.devices)
        self.room = room_in_number(2)
        self.world = World(FixedConcurrency(unlimited, 2), unlimited, ceiling_bytes=10**9)

    def resize(self) -> None:
        """Bytes bind nothing here."""


TestBudgetPolicy = Machine.TestCase
TestBudgetPolicy.settings = settings(max_examples=300, stateful_step_count=60, deadline=None)
TestFixedConcurrency = FixedMachine.TestCase
TestFixedConcurrency.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


def test_a_world_without_faults_completes_every_job() -> None:
    limits = Limits(20, 2, (Device("cpu", 1),))
    machine = Machine()
    machine.start(limits, [Circuit("a", (Entry("x", 5),), 2, 2), Circuit("b", (Entry("y", 9),), 3, 3)])
    for i in range(10):
        machine.send(Submit(Job(str(i), machine.circuits[i % 2], 2)))
    machine.teardown()
    assert machine.world.ends == {str(i): Complete(str(i)) for i in range(10)}
