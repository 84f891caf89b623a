"""Times taken from the history are those of partitions that had the machine to themselves."""

from pathlib import Path

import pytest

from db import History, Run, StageObservation, open_history
from sim import MachineProfile, observed_times, rows_of, simulate, with_history
from tests.sim.model import batch, limits, profile


def observation(stage: str, started_s: float, ended_s: float, run: str = "run") -> StageObservation:
    return StageObservation(run, "proof", "partition", "cpu", stage, started_s, ended_s)  # type: ignore[arg-type]


def write_as_real(history: History, machine: MachineProfile) -> None:
    run = simulate(batch(12, 6), limits(6, slots=3, workers=2), machine)
    records, many = rows_of(run, "batch", "test")
    (row,) = [record for record in records if isinstance(record, Run)]
    row.source = "real"
    with history.writer() as writer:
        writer.insert(*records)
        for model, rows in many:
            writer.insert_values(model, rows)


def test_a_recorded_run_gives_back_the_times_it_was_made_from(tmp_path: Path) -> None:
    machine = profile(synthesis_slowdown=0.5)
    with open_history(tmp_path / "history.db") as history:
        write_as_real(history, machine)
        learned = with_history(machine, history, ["circuit", "never proved"], "cpu")
    assert set(learned.circuits) == {"circuit"}
    times = learned.circuits["circuit"]
    assert times.synthesize_s == pytest.approx([1.0] * 12, rel=0.1)
    assert times.prove_s == pytest.approx([4.0] * 12)
    assert times.verify_s == pytest.approx([0.5] * 12)
    assert times.load_s == pytest.approx([1.0])
    was, now = (simulate(batch(9, 3), limits(3), each).end_s for each in (machine, learned))
    assert now == pytest.approx(was, rel=0.1)


def test_what_ran_at_once_is_undone_and_outliers_are_left_out() -> None:
    seen = [observation("synthesize", start, start + 3) for start in (0, 0, 10, 20)]
    seen += [observation("synthesize", 100, 200)]  # the kernels were compiled meanwhile
    seen += [observation("prove", 0, 8), observation("prove", 0, 8), observation("verify", 0, 1)]
    times = observed_times(seen, profile(synthesis_slowdown=0.5), "cpu")
    assert times is not None
    assert times.synthesize_s == pytest.approx([2, 2, 3, 3])
    assert times.prove_s == pytest.approx([4, 4])
    assert times.load_s is None


def test_a_circuit_without_some_stage_has_no_times() -> None:
    assert observed_times([], profile(), "cpu") is None
    assert (
        observed_times([observation("synthesize", 0, 1), observation("verify", 0, 1)], profile(), "gpu")
        is None
    )
