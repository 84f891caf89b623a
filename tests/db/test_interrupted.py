"""A run whose process was killed is closed by the next opening, with what was open in it; no other run is."""

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

import db
from db import History, Run, RunDetail, open_history, show_run

DIES_IN_THE_MIDDLE = """
import sys, time
from datetime import UTC, datetime, timedelta
from db import MemorySample, Partition, Proof, Run, Stage, open_history
history = open_history(sys.argv[1])
writer = history.writer()
start = datetime.now(UTC) - timedelta(minutes=1)
run = Run(source=sys.argv[2], name="batch", code_version="1", started_at=start)
done = Proof(run_id=run.id, name="done", circuit="c", state="succeeded", submitted_s=0.0, ended_s=4.0)
open_ = Proof(run_id=run.id, name="open", circuit="c", state="running", submitted_s=0.0)
parts = [Partition(proof_id=open_.id, index=0, state="succeeded"),
         Partition(proof_id=open_.id, index=1, state="running"), Partition(proof_id=open_.id, index=2)]
writer.insert(run, done, open_, *parts)
writer.insert(Stage(partition_id=parts[1].id, sequence=0, name="prove", started_s=0.001))
writer.flush()
print(run.id, flush=True)
for number in range(10**6):
    writer.insert(MemorySample(run_id=run.id, sequence=number, at_s=0.002, reserved_bytes=number))
    time.sleep(0.001)
"""


def kill_in_the_middle(address: str, source: str) -> str:
    """The id of a run that was killed while it wrote."""
    command = [sys.executable, "-c", DIES_IN_THE_MIDDLE, address, source]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        run_id = process.stdout.readline().strip()
        with open_history(address) as history:
            assert show_run(history, run_id).run.state == "running", "a living run is left alone"
        process.kill()
    return run_id


def states(detail: RunDetail) -> dict[str, tuple[str, list[str]]]:
    return {
        proof.proof.name: (proof.proof.state, [part.partition.state for part in proof.partitions])
        for proof in detail.proofs
    }


def test_a_killed_run_is_closed_as_interrupted(address: str) -> None:
    run_id = kill_in_the_middle(address, "real")
    with open_history(address) as history:
        detail = show_run(history, run_id)
    assert detail.run.state == "interrupted"
    assert detail.run.ended_at == detail.run.started_at + timedelta(seconds=4)
    expected = {
        "done": ("succeeded", []),
        "open": ("interrupted", ["succeeded", "interrupted", "interrupted"]),
    }
    assert states(detail) == expected
    assert [proof.proof.ended_s for proof in detail.proofs] == [4.0, 4.0]


def test_simulated_seconds_do_not_tell_when_a_simulation_died(address: str) -> None:
    before = datetime.now(UTC)
    run_id = kill_in_the_middle(address, "sim")
    with open_history(address) as history:
        run = show_run(history, run_id).run
    assert run.state == "interrupted"
    assert run.ended_at is not None
    assert before <= run.ended_at <= datetime.now(UTC)


@pytest.fixture
def long_dead() -> Run:
    start = datetime(2024, 1, 1, tzinfo=UTC)
    return Run(source="real", name="old", code_version="1", started_at=start, process_started_at=start)


def test_the_process_id_alone_does_not_keep_a_run_open(history: History, long_dead: Run) -> None:
    with history.writer() as writer:
        writer.insert(long_dead, mine := Run(source="real", name="mine", code_version="1"))
    assert history.close_interrupted() == [long_dead.id]
    assert history.close_interrupted() == []
    assert {one.run.id: one.run.state for one in db.list_runs(history)} == {
        long_dead.id: "interrupted",
        mine.id: "running",
    }


def test_only_runs_of_this_host_are_judged(history: History, long_dead: Run) -> None:
    long_dead.host = "elsewhere"
    with history.writer() as writer:
        writer.insert(long_dead)
    assert history.close_interrupted() == []


def test_a_finished_run_stays_as_it_ended(
    history: History, long_dead: Run, write_batch: Callable[..., Run]
) -> None:
    long_dead.state, long_dead.packed = "failed", True
    write_batch(history, long_dead)
    assert history.close_interrupted() == []
    assert show_run(history, long_dead.id).run == long_dead


def test_a_run_never_ends_after_it_was_found_dead(history: History, long_dead: Run) -> None:
    long_dead.started_at = datetime.now(UTC)
    with history.writer() as writer:
        writer.insert(long_dead)
        writer.insert(db.MemorySample(run_id=long_dead.id, sequence=0, at_s=1e6, reserved_bytes=0))
    history.close_interrupted()
    ended_at = show_run(history, long_dead.id).run.ended_at
    assert ended_at is not None
    assert ended_at <= datetime.now(UTC)
