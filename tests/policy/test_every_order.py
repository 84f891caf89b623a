"""Small worlds, exhaustively: whatever order loads, work, faults and users take, every rule holds."""

import pickle
from collections.abc import Iterator

import pytest

from policy import (
    BudgetPolicy,
    Cancel,
    Circuit,
    Device,
    DeviceLost,
    DeviceOutOfMemory,
    Displaced,
    Entry,
    Event,
    Failed,
    Job,
    Limits,
    Loaded,
    LoadFailed,
    Priority,
    Proved,
    QuotientDone,
    Resized,
    Submit,
    Synthesized,
    Tick,
    Verified,
)
from sim.torture.books import Books
from sim.torture.holdings import Held
from sim.torture.rules import CheckedPolicy

NEXT = {
    "synthesizing": (Synthesized,),
    "proving": (QuotientDone, Proved),
    "quotient": (Proved,),
    "proved": (Verified,),
}


class World:
    """A state: the checked policy, the jobs that have not come yet, and the faults that may still happen."""

    def __init__(self, limits: Limits, jobs: list[Job], faults: int, budgets: tuple[int, ...]) -> None:
        self.checked = CheckedPolicy(BudgetPolicy(limits), limits)
        self.to_come, self.faults, self.budgets, self.now_s = jobs, faults, budgets, 0.0

    @property
    def books(self) -> Books:
        return self.checked.books

    def events(self) -> Iterator[Event]:
        yield from self.work()
        if self.to_come:
            yield Submit(self.to_come[0])
        if self.faults:
            yield from self.wrong()

    def work(self) -> Iterator[Event]:
        for key, stored in self.books.stored.items():
            if stored.loading:
                yield Loaded(key)
        for partition, held in self.books.partitions.items():
            yield from (kind(partition) for kind in NEXT.get(held.at, ()))
            if held.device is not None and held.device.lost:
                yield Displaced(partition)
            if held.stopping:
                yield Failed(partition, "stopped")
        if self.books.wake_at_s is not None:
            yield Tick()

    def wrong(self) -> Iterator[Event]:
        for key, stored in self.books.stored.items():
            if stored.loading:
                yield LoadFailed(key, "disk")
        for partition, held in self.books.partitions.items():
            if not held.stopping:
                yield Failed(partition, "device")
                if held.device is not None and held.device.device.memory_bytes is not None:
                    yield DeviceOutOfMemory(partition)
        for job_id in self.books.jobs:
            yield Cancel(job_id)
        for name, device in self.books.devices.items():
            if not device.lost and device.device.memory_bytes is not None:
                yield DeviceLost(name)
        for budget_bytes in self.budgets:
            if budget_bytes != self.books.limits.budget_bytes:
                yield Resized(budget_bytes)

    def after(self, event: Event) -> "World":
        world: World = pickle.loads(pickle.dumps(self))  # noqa: S301  # our own, a moment ago
        if isinstance(event, Submit):
            world.to_come = world.to_come[1:]
        elif event not in list(self.work()):
            world.faults -= 1
        if isinstance(event, Tick):
            assert self.books.wake_at_s is not None
            world.now_s = self.books.wake_at_s
        world.checked.handle(event, world.now_s)
        return world

    def key(self) -> object:
        """States alike in this go on alike: the rest is how they came about."""
        books = self.books
        return (
            len(self.to_come),
            self.faults,
            self.now_s,
            books.limits.budget_bytes,
            books.wake_at_s,
            tuple((p, h.at, h.stopping, h.passed, _name(h)) for p, h in books.partitions.items()),
            tuple((key, s.loading, s.users) for key, s in books.stored.items()),
            tuple((key, s.idle_since_s) for key, s in books.idle.items()),
            tuple((d.lost, tuple((k, s.users) for k, s in d.stored.items())) for d in books.devices.values()),
            tuple((k, s.idle_since_s) for d in books.devices.values() for k, s in d.idle.items()),
            tuple((w.job.id, w.next_index, tuple(w.again), w.place) for w in books.line),
            tuple((c.name, expected.device_bytes) for c, expected in books._expected.items()),
            tuple((g.head.job.id, g.overtaken) for g in books.line.groups),
            tuple((j.job.id, j.failing, j.verified) for j in books.jobs.values()),
        )


def _name(held: Held) -> str | None:
    return None if held.device is None else held.device.device.name


def explore(start: World) -> tuple[int, int]:
    """How many states there are, and how many of them are ends."""
    seen, stack, ends = {start.key()}, [start], 0
    while stack:
        world = stack.pop()
        events = list(world.events())
        if not events or (not world.to_come and not world.books.jobs and not list(world.work())):
            ends += 1
            assert not world.books.jobs, "jobs wait, and nothing will happen"
            assert world.checked.policy.reserved_bytes == world.books.idle_bytes
            continue
        for event in events:
            child = world.after(event)
            if child.key() not in seen:
                seen.add(child.key())
                stack.append(child)
    return len(seen), ends


SRS, PCE, OTHER = Entry("srs", 4), Entry("pce", 2), Entry("other", 5)
A, B = Circuit("a", (SRS, PCE), 2, 2, 3), Circuit("b", (SRS, OTHER), 1, 3, 3)
ALONE = Circuit("c", (OTHER,), 2, 2, 1)
HAS_KEY = Circuit("d", (), 1, 1, 3, Entry("key", 4))
HAS_OTHER_KEY = Circuit("e", (), 1, 1, 3, Entry("other key", 5))
CPU = (Device("cpu", 1),)
WORLDS = {
    "shared SRS": (Limits(14, 1, CPU), [Job("j", A, 2), Job("k", B)], 2, ()),
    "one fits at a time": (Limits(13, 2, CPU), [Job("j", A), Job("k", ALONE), Job("l", A)], 1, ()),
    "the budget changes": (Limits(15, 1, CPU), [Job("j", A), Job("k", ALONE)], 2, (9, 10)),
    "young entries": (
        Limits(13, 1, CPU, eviction_min_idle_s=3.0),
        [Job("j", A), Job("k", ALONE, 1, Priority.HIGH)],
        2,
        (),
    ),
    "nobody may be overtaken": (
        Limits(16, 1, CPU, overtake_limit=0),
        [Job("j", B), Job("k", A), Job("l", ALONE)],
        1,
        (),
    ),
    "batches": (
        Limits(13, 1, CPU, max_batch_size=2, max_batch_wait_s=5.0),
        [Job("j", A), Job("k", ALONE), Job("l", A)],
        0,
        (),
    ),
    "a small device": (
        Limits(40, 2, (Device("gpu", 2, 6),), synthesis_lookahead=2),
        [Job("j", A, 2), Job("k", ALONE)],
        1,
        (),
    ),
    "an entry on two devices": (
        Limits(40, 2, (Device("gpu0", 1, 9), Device("gpu1", 1, 9)), synthesis_lookahead=2),
        [Job("j", HAS_KEY, 2)],
        1,
        (),
    ),
    "two entries on a device": (
        Limits(40, 2, (Device("gpu0", 2, 9),), synthesis_lookahead=2),
        [Job("j", HAS_KEY, 2), Job("k", HAS_OTHER_KEY)],
        1,
        (),
    ),
}


@pytest.mark.parametrize("name", WORLDS)
def test_every_order_of_events_keeps_every_rule(name: str) -> None:
    limits, jobs, faults, budgets = WORLDS[name]
    states, ends = explore(World(limits, list(jobs), faults, budgets))
    assert states > 200
    assert ends > 2
