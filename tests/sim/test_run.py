"""A batch on a modelled machine: what runs at once, how long it takes, and from what clock."""

import ast
import time
from pathlib import Path

import pytest

import sim
from policy import Admit, Circuit, Complete, Proved, Submit, Synthesize, Synthesized
from sim import Batch, Progress, SimError, simulate
from tests.sim.model import CIRCUIT, at_once, batch, limits, profile


@pytest.mark.parametrize("room_for", [1, 3])
def test_as_many_run_at_once_as_the_budget_holds(room_for: int) -> None:
    run = simulate(batch(6, 6), limits(room_for), profile())
    assert at_once(run, Admit, Proved) == room_for
    assert run.peak_reserved_bytes == run.limits.budget_bytes
    assert max(entry.reserved_bytes for entry in run.log) == run.peak_reserved_bytes


def test_one_after_another_takes_the_sum_of_the_stages() -> None:
    """1 s of load; then for each 1 s to synthesize and 4 s to prove, and for the last 0.5 s to verify."""
    run = simulate(batch(4, 1), limits(1), profile())
    assert run.end_s == pytest.approx(1 + 4 * (1 + 4 + 0.5))
    assert simulate(batch(4, 4), limits(1), profile()).end_s == pytest.approx(1 + 4 * (1 + 4) + 0.5)


def test_a_device_does_one_thing_at_a_time_and_the_host_parts_overlap() -> None:
    alone = simulate(batch(3, 3), limits(9), profile())
    assert alone.end_s == pytest.approx(1 + 1 + 3 * 4 + 0.5)
    shared = simulate(batch(3, 3), limits(9), profile(host_before_share=0.25, host_after_share=0.25))
    assert shared.end_s == pytest.approx(1 + 1 + 1 + 3 * 2 + 1 + 0.5)


def test_synthesis_at_once_slows_down() -> None:
    fast = simulate(batch(4, 4), limits(9, slots=4), profile(prove={"seconds": 1e-9}))
    slow = simulate(batch(4, 4), limits(9, slots=4), profile(prove={"seconds": 1e-9}, synthesis_slowdown=0.5))
    assert at_once(slow, Synthesize, Synthesized) == 4
    assert slow.end_s - fast.end_s == pytest.approx(1.5)


def test_no_more_proofs_are_under_way_than_the_loop_allows() -> None:
    run = simulate(batch(9, 2, partitions=3), limits(9), profile())
    unfinished = most = 0
    for entry in run.log:
        unfinished += isinstance(entry.event, Submit)
        unfinished -= sum(isinstance(decision, Complete) for decision in entry.decisions)
        most = max(most, unfinished)
    assert (most, unfinished) == (2, 0)


def test_fixed_concurrency_exceeds_the_budget_that_the_policy_keeps() -> None:
    bytes_kept = simulate(batch(6, 6), limits(2), profile()).peak_reserved_bytes
    fixed = simulate(batch(6, 6), limits(2), profile(), policy="fixed:4")
    assert bytes_kept <= limits(2).budget_bytes < fixed.peak_reserved_bytes
    assert at_once(fixed, Admit, Proved) == 4


def test_its_progress_can_be_read() -> None:
    progress = Progress()
    run = simulate(batch(6, 3, partitions=2), limits(9), profile(), progress=progress)
    assert (progress.ended_count, progress.at_s, progress.recorded_rows) == (6, run.end_s, 0)


def test_what_cannot_be_simulated_is_refused_in_one_line() -> None:
    with pytest.raises(SimError, match=r"circuit #1 was rejected: .* needs 120 B.* budget is 100 B"):
        simulate(batch(1, 1), limits(0), profile())
    with pytest.raises(SimError, match=r"no times of circuit circuit.* prove a batch of it first"):
        simulate(batch(1, 1, constraints=None), limits(1), profile())
    with pytest.raises(SimError, match='"fixed:N"'):
        simulate(batch(1, 1), limits(1), profile(), policy="fixed:0")
    with pytest.raises(ValueError, match="concurrency is 0"):
        batch(1, 0)


def test_a_circuit_without_entries_needs_no_load() -> None:
    bare = Circuit("bare", (), 10, 10)
    assert simulate(Batch(bare, 1, 1, constraints=1), limits(1), profile()).end_s == pytest.approx(5.5)
    assert CIRCUIT.entries


def test_the_wall_clock_is_never_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*_: object) -> float:
        raise AssertionError("the simulator asked the wall clock")

    for name in ("time", "monotonic", "perf_counter", "time_ns", "monotonic_ns", "perf_counter_ns", "sleep"):
        monkeypatch.setattr(time, name, asked)
    run = simulate(batch(3, 2), limits(2), profile(spread=0.1))
    monkeypatch.undo()
    assert run.end_s > 0
    for path in Path(sim.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                assert not {"time", "datetime"} & {alias.name for alias in node.names}, path
            if isinstance(node, ast.ImportFrom):
                assert node.module != "time", path
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                asked_of = (node.value.id, node.attr)
                assert asked_of not in {("datetime", "now"), ("datetime", "today"), ("date", "today")}, path


def test_without_its_log_a_run_goes_the_same_way() -> None:
    varied = profile(spread=0.3, synthesis_slowdown=0.2, host_before_share=0.2)
    logged, bare = (
        simulate(batch(9, 4, partitions=3), limits(4), varied, with_log=each) for each in (True, False)
    )
    assert bare.log == ()
    assert (bare.end_s, bare.peak_reserved_bytes) == (logged.end_s, logged.peak_reserved_bytes)
