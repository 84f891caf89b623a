"""What really fits beside the SRS and PCE, as the docs say."""

from dataclasses import replace

import pytest

from policy import (
    BudgetPolicy,
    Capacity,
    Circuit,
    Device,
    Entry,
    Job,
    Limits,
    Loaded,
    Measured,
    PartitionId,
    PartitionState,
    Submit,
    Synthesized,
    capacities,
)
from tests.policy.scenario import Scenario, circuit, limits, partition

GIB = 1 << 30


def filecoin(name: str, srs_gib: float, pce_gib: float, full_gib: float, abc_gib: float) -> Circuit:
    entries = (Entry(f"{name} SRS", int(srs_gib * GIB)), Entry(f"{name} PCE", int(pce_gib * GIB)))
    return Circuit(name, entries, int(abc_gib * GIB), int((full_gib - abc_gib) * GIB))


POREP = filecoin("PoRep", 44, 25.7, 13.6, 12.5)
SNAP = filecoin("SnapDeals", 33, 17, 8.6, 8.0)
WINDOW = filecoin("WindowPoSt", 57, 26, 13.2, 12.2)
WINNING = filecoin("WinningPoSt", 0.18, 0.4, 0.4, 0.25)


def test_two_porep_partitions_fit_100_gib_and_not_seven() -> None:
    (found,) = BudgetPolicy(limits(100 * GIB)).capacity([POREP])
    assert (found.alone, found.beside_all) == (2, 2)


def test_the_tables_of_the_docs() -> None:
    rows = {
        100: [(2, 0), (5, 0), (1, 0), (248, 0)],
        256: [(13, 3), (23, 6), (13, 3), (638, 131)],
        512: [(32, 22), (53, 35), (32, 23), (1278, 771)],
        755: [(50, 40), (81, 64), (50, 41), (1886, 1379)],
    }
    for budget_gib, row in rows.items():
        found = capacities(limits(budget_gib * GIB), [POREP, SNAP, WINDOW, WINNING])
        assert [(each.alone, each.beside_all) for each in found] == row


def test_what_is_shared_counts_once_and_devices_by_their_memory() -> None:
    one = Circuit("one", (Entry("srs", 10), Entry("pce", 1)), 2, 3, device_bytes=4)
    other = Circuit("other", (Entry("srs", 10), Entry("table", 2)), 0, 0)
    some = Limits(33, 1, (Device("small", 3, 7), Device("large", 3, 8), Device("cpu", 2)))
    assert capacities(some, [one, other]) == (
        Capacity("one", 11, 5, alone=4, beside_all=4, on_devices=1 + 2 + 2, under_way=6),
        Capacity("other", 12, 0, alone=21, beside_all=20, on_devices=8, under_way=9),
    )


@pytest.mark.parametrize(
    ("lookahead", "lookahead_bytes", "under_way"),
    [(0, None, 2), (1, None, 4), (3, None, 6), (3, 50, 5), (3, 1, 3)],
)
def test_no_more_are_ever_under_way_than_it_says(
    lookahead: int, lookahead_bytes: int | None, under_way: int
) -> None:
    """And so many are: with all workers busy, slots fill until the lookahead is reached."""
    some = limits(10_000, 2, 2, synthesis_lookahead=lookahead)
    some = replace(some, lookahead_bytes=lookahead_bytes)
    stage = Scenario(some)
    (found,) = stage.policy.capacity([circuit("a", 10, 20)])
    assert (found.under_way, found.at_once, found.bound) == (under_way, under_way, "slots")
    stage.submit("job", circuit("a", 10, 20), partitions=30)
    stage.load("a")
    for index in range(30):
        if stage.policy.state(PartitionId("job", index)) is PartitionState.SYNTHESIZING:
            stage.send(Synthesized(PartitionId("job", index)))
        assert len(stage.policy.partitions()) <= under_way
    assert len(stage.policy.partitions()) == under_way


def test_the_budget_is_the_bound_where_it_lets_fewer_in() -> None:
    (found,) = BudgetPolicy(limits(50, 8, 8)).capacity([circuit("a", 10, 20)])
    assert (found.alone, found.at_once, found.bound) == (2, 2, "budget")


def test_a_running_policy_answers_by_what_it_has_measured() -> None:
    policy = BudgetPolicy(limits(100))
    circuit = Circuit("c", (Entry("srs", 10),), 8, 2)
    for event in (Submit(Job("a", circuit)), Loaded("srs"), Synthesized(partition("a"))):
        policy.handle(event, 0.0)
    policy.handle(Measured(partition("a"), 30), 0.0)
    assert [each.alone for each in policy.capacity([circuit])] == [3]
