"""Questions and their answers, from rows whose sums are known."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

import db
from db import (
    History,
    HistoryError,
    MemorySample,
    Partition,
    PolicyEvent,
    Proof,
    Run,
    Source,
    Stage,
    StageSeconds,
    find_run,
    list_runs,
    memory_samples,
    policy_events,
    show_run,
    stage_seconds,
)

WriteBatch = Callable[..., Run]
START = datetime(2024, 1, 1, tzinfo=UTC)


def make_run(hours: int = 0, source: Source = "real", **values: str) -> Run:
    start = START + timedelta(hours=hours)
    return Run(source=source, name="batch", code_version="1", state="succeeded", started_at=start, **values)


def test_an_empty_history_has_no_answers(history: History) -> None:
    assert list_runs(history) == []
    assert stage_seconds(history, "merkle") == []
    assert policy_events(history, "x") == []


def test_runs_are_listed_newest_first_with_their_proofs(history: History, write_batch: WriteBatch) -> None:
    runs = [write_batch(history, make_run(hours, "sim" if hours == 2 else "real")) for hours in (1, 3, 2)]
    with history.writer() as writer:
        writer.insert(empty := make_run(0))
        writer.insert(Proof(run_id=runs[0].id, name="bad", circuit="c", state="failed", submitted_s=0.0))
    listed = [(one.run.id, one.proof_count, one.succeeded_count) for one in list_runs(history)]
    assert listed == [(runs[1].id, 2, 2), (runs[2].id, 2, 2), (runs[0].id, 3, 2), (empty.id, 0, 0)]
    assert [one.run for one in list_runs(history, limit=1)] == [runs[1]]
    assert [one.run for one in list_runs(history, where=db.Filter(source="sim"))] == [runs[2]]


def test_a_run_is_found_by_the_beginning_of_its_id(history: History) -> None:
    ids = [f"{start}-7000-8000-000000000000" for start in ("01900000-aaaa", "01900000-abbb", "0190aaaa-0000")]
    with history.writer() as writer:
        writer.insert(*(make_run(id=one) for one in ids))
    assert find_run(history, "01900000-aaaa").id == ids[0]
    assert find_run(history, " 01900000-AB").id == ids[1]
    assert find_run(history, ids[2]).id == ids[2]
    with pytest.raises(HistoryError, match="more than one run begins so; give more of the id"):
        find_run(history, "01900000")
    for nothing in ("", "  "):
        with pytest.raises(HistoryError, match="expected a run's id; list the runs"):
            find_run(history, nothing)
    for prefix in ("ff", "%", "0190_"):
        with pytest.raises(HistoryError, match="no run begins so"):
            find_run(history, prefix)


def test_the_seconds_of_a_proof_are_those_of_its_partitions(
    history: History, write_batch: WriteBatch
) -> None:
    run = write_batch(history, make_run())
    write_batch(history, make_run(1))
    detail = show_run(history, run.id)
    assert detail.run == run
    assert [one.proof.name for one in detail.proofs] == ["p0", "p1"]
    for proof in detail.proofs:
        assert [one.partition.index for one in proof.partitions] == [0, 1]
        assert [one.seconds for one in proof.partitions] == [StageSeconds(1, 2, 4, 8, 16, 32)] * 2
        assert proof.seconds == StageSeconds(2, 4, 8, 16, 32, 64)


def test_a_stage_that_came_twice_counts_twice_and_an_open_one_not(history: History) -> None:
    with history.writer() as writer:
        writer.insert(run := make_run())
        writer.insert(proof := Proof(run_id=run.id, name="p", circuit="c", submitted_s=0.0))
        writer.insert(part := Partition(proof_id=proof.id, index=0, state="succeeded"))
        for number, (start, end) in enumerate(((0.0, 1.5), (2.0, 4.0), (5.0, None))):
            stage = Stage(partition_id=part.id, sequence=number, name="prove", started_s=start, ended_s=end)
            writer.insert(stage)
    assert show_run(history, run.id).proofs[0].seconds == StageSeconds(prove_s=3.5)
    assert [one.seconds for one in stage_seconds(history, "c")] == [1.5, 2.0]


def test_a_run_that_is_not_there_is_said_to_be_so(history: History) -> None:
    with pytest.raises(HistoryError, match="run 'nope': there is no such run"):
        show_run(history, "nope")


def test_observations_are_of_one_circuit_one_source_and_successes(
    history: History, write_batch: WriteBatch
) -> None:
    run = write_batch(history, make_run())
    write_batch(history, make_run(1, "sim"))
    write_batch(history, make_run(2), circuit="other")
    observed = stage_seconds(history, "merkle")
    assert {one.run_id for one in observed} == {run.id}
    assert sorted(one.seconds for one in observed if one.stage == "prove") == [16.0] * 4
    with history.writer() as writer:
        writer.update(Partition, observed[0].partition_id, state="failed")
    assert len(stage_seconds(history, "merkle")) == len(observed) - 6
    assert len(stage_seconds(history, "merkle", source="sim")) == len(observed)


def test_of_many_runs_the_newest_are_observed(history: History, write_batch: WriteBatch) -> None:
    runs = [write_batch(history, make_run(number)) for number in range(4)]
    history.pack()
    live = make_run(-1)
    live.state = "running"
    write_batch(history, live)
    write_batch(history, make_run(9), circuit="other")

    def seen(newest: int) -> list[str]:
        return list(dict.fromkeys(each.run_id for each in stage_seconds(history, "merkle", newest=newest)))

    assert seen(4) == [live.id, runs[3].id]
    assert seen(5) == [live.id, runs[2].id, runs[3].id]
    assert seen(100) == [live.id, *(run.id for run in runs)]


def test_events_and_samples_come_in_order(history: History) -> None:
    event = {"type": "submit", "job": {"id": "a", "entries": [["srs", 1]]}}
    with history.writer() as writer:
        writer.insert(run := make_run())
        for number in (2, 0, 1):
            at_s = number / 10
            writer.insert(PolicyEvent(run_id=run.id, sequence=number, at_s=at_s, event=event, decisions=[]))
            writer.insert(MemorySample(run_id=run.id, sequence=number, at_s=at_s, reserved_bytes=number))
    events = policy_events(history, run.id)
    assert [(one.sequence, one.at_s) for one in events] == [(0, 0.0), (1, 0.1), (2, 0.2)]
    assert [(one.event, one.decisions) for one in events] == [(event, [])] * 3
    assert [one.reserved_bytes for one in memory_samples(history, run.id)] == [0, 1, 2]


def test_waits_have_their_cause_and_only_those_that_are_over_count(history: History) -> None:
    run = db.Run(source="real", name="batch", code_version="1")
    proof = db.Proof(
        run_id=run.id, name="p", circuit="c", priority="normal", partition_count=1, submitted_s=0.0
    )
    partition = db.Partition(proof_id=proof.id, index=0)
    spans: list[tuple[db.StageName, float, float | None, str | None]] = [
        ("wait", 0.0, 1.5, "memory"),
        ("load", 1.5, 2.0, "load"),
        ("synthesize", 2.0, 3.0, None),
        ("queue", 3.0, None, None),
    ]
    with history.writer() as writer:
        writer.insert(run, proof, partition)
        for number, (name, started_s, ended_s, cause) in enumerate(spans):
            writer.insert(
                db.Stage(
                    partition_id=partition.id,
                    sequence=number,
                    name=name,
                    started_s=started_s,
                    ended_s=ended_s,
                    wait_cause=cause,
                )
            )
    assert db.waits(history, run.id) == [("memory", 1.5), ("load", 0.5)]
    assert db.waits(history, "another") == []
