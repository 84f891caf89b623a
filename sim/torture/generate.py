"""Cases by seed: the machines, jobs and faults that the memory manager has to hold against."""

from dataclasses import replace
from random import Random

from policy import (
    Cancel,
    Circuit,
    Device,
    Entry,
    Failed,
    Job,
    Limits,
    PartitionId,
    Priority,
    Resized,
    Shared,
    Unload,
)
from sim.torture.case import (
    BLOWS,
    STAGES,
    Arrival,
    At,
    Case,
    Crowded,
    Death,
    DeviceReset,
    Fault,
    LoadFails,
    Pace,
    Stray,
    Strike,
)
from sim.torture.generate_residents import with_residents

TABLE = 257  # a prime, so that draws for successive partitions run through the whole table


def case_of(seed: int, partitions: int = 100) -> Case:
    """About `partitions` partitions; the same arguments give the same case."""
    random = Random(seed)
    circuits = _circuits(random)
    limits = _limits(random, circuits)
    pace = _pace(random)
    workers = sum(device.workers for device in limits.devices)
    window_s = random.choice((0.0, 0.3, 1.0)) * partitions * pace.prove_s / workers
    arrivals = _arrivals(random, circuits, partitions, window_s)
    horizon_s = window_s + partitions * (pace.prove_s + pace.synthesize_s) / workers
    faults = _faults(random, limits, circuits, arrivals, horizon_s)
    took = random.choice(((), (), (0.3, 0.8, 0.9), (0.5, 1.0, 1.0, 1.3)))
    loaded = random.choice(((), (1.0,), (0.0, 0.25, 1.0), (0.1, 0.5)))
    faults += _unloads(Random(f"{seed}/unloads"), circuits, horizon_s)
    case = Case(seed, limits, pace, tuple(arrivals), tuple(faults), took, loaded)
    return with_residents(Random(f"{seed}/devices"), case, horizon_s)


def _circuits(random: Random) -> list[Circuit]:
    """Few entries that several circuits share, or many; in some seeds one circuit is far too large."""
    unit_bytes = random.choice((1, 1, 3, 1 << 20, (1 << 30) + 7))
    if random.random() < 0.5:
        entries = [Entry(f"srs{i}", unit_bytes * random.choice((1, 4, 9, 12, 20))) for i in range(4)]
        entries += [Entry(f"pce{i}", unit_bytes * random.randrange(8)) for i in range(random.randrange(4))]
        count, most = random.randint(1, 6), 6
    else:
        entries = [Entry(f"srs{i}", unit_bytes * random.choice((2, 3, 5))) for i in range(9)]
        count, most = random.randint(5, 10), 3
    circuits = [
        Circuit(
            f"circuit{i}",
            tuple(random.sample(entries, random.choice((0, 1, 1, 1, 2, 3)))),
            unit_bytes * random.randrange(most),
            unit_bytes * random.randrange(most),
            unit_bytes * random.randrange(9),
        )
        for i in range(count)
    ]
    if random.random() < 0.1:
        circuits.append(_with_a_file_replaced(random, random.choice(circuits)))
    if random.random() < 0.1:
        circuits.append(Circuit("enormous", (entries[0],), unit_bytes * 1000, 0, unit_bytes))
    return circuits


def _with_a_file_replaced(random: Random, circuit: Circuit) -> Circuit:
    """Its entries have other sizes under the same keys."""
    entries = [Entry(entry.key, entry.size_bytes + random.randrange(2)) for entry in circuit.entries]
    return replace(circuit, name=f"{circuit.name} replaced", entries=tuple(entries))


def _limits(random: Random, circuits: list[Circuit]) -> Limits:
    """From a budget in which the largest circuit fits alone, or not, to one in which all fit together."""
    needs = sorted(circuit.entries_bytes + circuit.working_bytes for circuit in circuits)
    most_bytes = needs[-1] if needs[-1] < 100 * (needs[0] + 1) else needs[0]
    budget_bytes = int(most_bytes * random.choice((0.7, 1.0, 1.0, 1.0, 1.2, 1.2, 1.5, 1.5, 2.0, 4.0)))
    largest_bytes = max(circuit.device_bytes for circuit in circuits)
    devices = [
        Device(
            f"device{i}",
            random.choice((1, 1, 2, 3)),
            random.choice((None, max(1, int(largest_bytes * random.choice((0.7, 1.0, 1.0, 1.5, 2.0)))))),
        )
        for i in range(random.choice((1, 1, 2, 3)))
    ]
    return Limits(
        max(1, budget_bytes),
        random.choice((1, 2, 3, 4)),
        tuple(devices),
        synthesis_lookahead=random.choice((0, 1, 1, 2)),
        eviction_min_idle_s=random.choice((0.0, 0.0, 2.0, 50.0)),
        overtake_limit=random.choice((0, 1, 3, 10)),
        ageing_s=random.choice((0.0, 5.0, 600.0)),
        lookahead_bytes=random.choice((None, None, max(1, budget_bytes // 4), 1)),
        sort_by_type=random.random() < 0.7,
        max_batch_size=random.choice((1, 1, 2, 5)),
        max_batch_wait_s=random.choice((0.0, 3.0, 50.0)),
    )


def _pace(random: Random) -> Pace:
    """Whole seconds make many things happen at the same moment; others hardly ever."""
    if random.random() < 0.5:
        table = _whole_seconds(random)
    else:
        table = [random.expovariate(1.0) for _ in range(TABLE)]
    slow_disk = random.choice((0.0, 1.0, 1.0, 30.0))
    return Pace(tuple(table), random.choice((0.0, 1.0, 3.0)), random.choice((1.0, 3.0)), slow_disk)


def _whole_seconds(random: Random) -> list[float]:
    """Drawn by bits, since `Random.choice` would take several times as long."""
    values, table = (0.0, 1.0, 1.0, 2.0, 3.0), list[float]()
    while len(table) < TABLE:
        drawn = random.getrandbits(3)
        if drawn < len(values):
            table.append(values[drawn])
    return table


def _arrivals(random: Random, circuits: list[Circuit], partitions: int, window_s: float) -> list[Arrival]:
    most = random.choice((1, 3, 10, 30))
    patience_s = random.choice((None, None, None, 20.0, 300.0))
    priorities = random.choice(((Priority.NORMAL,), tuple(Priority)))
    arrivals: list[Arrival] = []
    left = partitions
    while left > 0:
        count = min(left, random.randint(1, most))
        left -= count
        due_s = None if random.random() < 0.8 else float(int(random.random() * 2 * (window_s + 10)))
        name, circuit = f"job{len(arrivals)}", random.choice(circuits)
        job = Job(name, circuit, count, random.choice(priorities), due_s)
        deadline_s = None if patience_s is None or random.random() < 0.5 else patience_s * random.random()
        at_s = float(int(random.random() * window_s))
        arrivals.append(Arrival(len(arrivals), at_s, job, deadline_s, random.choice((0, 0, 1))))
    return arrivals


def _faults(
    random: Random, limits: Limits, circuits: list[Circuit], arrivals: list[Arrival], horizon_s: float
) -> list[Fault]:
    rate = random.choice((0.0, 0.05, 0.2))
    faults: list[Fault] = [_strike(random, arrivals) for _ in range(_count(random, rate * 100))]
    faults += [LoadFails(random.randrange(1, 20)) for _ in range(_count(random, rate * 20))]
    for what in (Resized, Shared):
        if random.random() < 0.25:
            budgets = _budgets(limits, circuits)
            moments = [random.choice((0.0, random.random())) * horizon_s for _ in range(random.randrange(5))]
            faults += [At(at_s, what(random.choice(budgets))) for at_s in moments]
    for _ in range(_count(random, rate * 30)):
        faults.append(At(float(int(random.random() * horizon_s)), _blow(random, limits, arrivals)))
    return faults


def _unloads(random: Random, circuits: list[Circuit], horizon_s: float) -> list[Fault]:
    """Somebody wants entries gone, in whatever state they are; `random` is of this alone."""
    keys = sorted({entry.key for circuit in circuits for entry in circuit.entries})
    if not keys or random.random() < 0.5:
        return []
    times = [random.random() * horizon_s for _ in range(random.choice((1, 5, 30)))]
    return [At(random.choice((at_s, float(int(at_s)))), Unload(random.choice(keys))) for at_s in times]


def _count(random: Random, most: float) -> int:
    return int(random.random() * most)


def _partition(random: Random, arrivals: list[Arrival]) -> PartitionId:
    job = random.choice(arrivals).job
    return PartitionId(job.id, random.randrange(job.partitions))


def _strike(random: Random, arrivals: list[Arrival]) -> Strike:
    after_s = random.choice((0.0, 0.0, 0.5, 1.0))
    return Strike(_partition(random, arrivals), random.choice(STAGES), after_s, random.choice(BLOWS))


def _budgets(limits: Limits, circuits: list[Circuit]) -> list[int]:
    needs = [circuit.entries_bytes + circuit.working_bytes for circuit in circuits]
    around = [int(limits.budget_bytes * factor) for factor in (0.1, 0.5, 0.9, 1.0, 1.5, 3.0)]
    return [max(1, size_bytes) for size_bytes in [*needs, *around]]


def _blow(
    random: Random, limits: Limits, arrivals: list[Arrival]
) -> Cancel | Failed | DeviceReset | Crowded | Stray | Death:
    kind = random.randrange(12)
    if kind == 0:
        return Death()
    if kind == 1:
        return DeviceReset(random.choice(limits.devices).name)
    if kind < 4:
        return Crowded(random.choice(limits.devices).name)
    if kind < 6:
        return Stray()
    partition = _partition(random, arrivals)
    return Cancel(partition.job_id) if kind < 9 else Failed(partition, "input")
