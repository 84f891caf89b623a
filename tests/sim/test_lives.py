"""A simulated run in the history looks like a real one."""

from pathlib import Path

import pytest

from db import RunDetail, memory_samples, open_history, show_run
from policy import (
    Admit,
    Cancel,
    Circuit,
    Entry,
    Event,
    Fail,
    Failed,
    Job,
    LoadFailed,
    PartitionId,
    Priority,
    Stop,
    Submit,
    Synthesize,
)
from sim import Batch, Progress, SimulatedRun, record, rows_of, simulate
from sim.lives import RunRows
from tests.sim.model import CIRCUIT, limits, profile


@pytest.fixture(scope="module")
def run() -> SimulatedRun:
    work = Batch(CIRCUIT, 4, 2, partitions=3, priority=Priority.HIGH, constraints=1)
    return simulate(work, limits(2, workers=1), profile(spread=0.1), seed=5)


@pytest.fixture(scope="module")
def detail(run: SimulatedRun, tmp_path_factory: pytest.TempPathFactory) -> RunDetail:
    path: Path = tmp_path_factory.mktemp("history") / "history.db"
    with open_history(path) as history:
        with history.writer() as writer:
            progress = Progress()
            run_id = record(run, writer, name="what if", code_version="test", progress=progress)
            records, many = rows_of(run, "what if", "test")
            assert progress.recorded_rows == len(records) + sum(len(list(rows)) for _, rows in many)
        samples = memory_samples(history, run_id)
        assert [(s.at_s, s.reserved_bytes) for s in samples] == [(e.at_s, e.reserved_bytes) for e in run.log]
        return show_run(history, run_id)


def test_the_run_has_its_inputs_and_its_end(run: SimulatedRun, detail: RunDetail) -> None:
    row = detail.run
    assert (row.source, row.state, row.name, row.code_version) == ("sim", "succeeded", "what if", "test")
    assert row.ended_at is not None
    assert (row.ended_at - row.started_at).total_seconds() == pytest.approx(run.end_s, abs=1e-5)
    assert (row.budget_bytes, row.peak_reserved_bytes) == (run.limits.budget_bytes, run.peak_reserved_bytes)
    assert row.proof_count == 4
    assert detail.config is not None
    assert (detail.config["seed"], detail.config["count"], detail.config["priority"]) == (5, 4, "high")
    assert detail.machine is not None
    assert detail.machine["prove"]["seconds"] == 4.0


def test_stages_follow_each_other_without_a_gap(detail: RunDetail) -> None:
    assert [proof.proof.name for proof in detail.proofs] == [f"circuit #{i}" for i in (1, 2, 3, 4)]
    last_s = 0.0
    for proof in detail.proofs:
        ends_s = []
        for part in proof.partitions:
            assert (part.partition.state, part.partition.device) == ("succeeded", "cpu")
            assert part.partition.reserved_bytes == 20
            total_s = sum(getattr(part.seconds, name) for name in part.seconds.__dataclass_fields__)
            ends_s.append(proof.proof.submitted_s + total_s)
        assert proof.proof.ended_s == pytest.approx(max(ends_s))
        last_s = max(last_s, *ends_s)
    assert last_s == pytest.approx(max(p.proof.ended_s or 0 for p in detail.proofs))


def test_only_the_first_loads_and_those_that_wait_know_why(detail: RunDetail) -> None:
    first, *others = [part for proof in detail.proofs for part in proof.partitions]
    assert first.seconds.load_s > 0
    assert first.partition.wait_cause is None or "slot" in first.partition.wait_cause
    assert others[-1].seconds.load_s == 0
    assert "waits for memory: it needs 20 B" in str(others[-1].partition.wait_cause)


def states(log: list[tuple[Event, tuple[object, ...]]]) -> tuple[str, list[tuple[str, str | None]]]:
    rows = RunRows("run")
    for at_s, (event, decisions) in enumerate(log):
        rows.take(event, decisions, float(at_s))  # type: ignore[arg-type]  # written out below
    lives = [(life.row.state, life.row.error) for life in rows.lives.values()]
    stages = [stage for p, life in rows.lives.items() if p.job_id == "j" for stage in life.stages]
    assert all(stage.ended_s is not None for stage in stages)
    return rows.proofs["j"].state, lives


def test_failures_and_cancels_leave_every_partition_ended() -> None:
    job = Job("j", Circuit("c", (Entry("e", 1),), 1, 1), partitions=3)
    first, second = PartitionId("j", 0), PartitionId("j", 1)
    begun: list[tuple[Event, tuple[object, ...]]] = [(Submit(job), (Admit(first, 2), Admit(second, 2)))]
    assert states([*begun, (LoadFailed("e", "disk"), (Fail("j", "e could not be loaded: disk"),))]) == (
        "failed",
        [("failed", "disk"), ("failed", "disk"), ("cancelled", None)],
    )
    running = [*begun, (Submit(Job("k", job.circuit)), (Synthesize(first), Synthesize(second)))]
    stopped = [
        (Failed(first, "device"), (Stop(second),)),
        (Failed(second, "stopped"), (Fail("j", "device"),)),
    ]
    assert states([*running, *stopped])[1][:2] == [("failed", "device"), ("cancelled", None)]
    cancelled = [(Cancel("j"), (Stop(first), Stop(second))), (Failed(first, ""), (Fail("j", "cancelled"),))]
    assert states([*running, *cancelled])[0] == "cancelled"
