"""A run that goes on is packed as far as it has come, and is the same afterwards, whatever becomes of it."""

import os

import pytest
from sqlalchemy import func, select

from db import (
    Decision,
    History,
    MemorySample,
    Partition,
    PolicyEvent,
    Proof,
    Run,
    Stage,
    memory_samples,
    packing,
    policy_events,
    summaries,
)
from db.log_models import PolicyLog
from db.process import host_name, this_process_started_at

EVENTS, PACK = 57, 10


@pytest.fixture
def run(history: History, monkeypatch: pytest.MonkeyPatch) -> Run:
    """One of this process that goes on."""
    monkeypatch.setattr(packing, "PACK", PACK)
    run = Run(
        source="real", name="daemon", code_version="1", host=host_name(), pid=os.getpid(),
        process_started_at=this_process_started_at(),
    )  # fmt: skip
    write(history, run, *(event(run, number) for number in range(EVENTS)))
    return run


def event(run: Run, number: int) -> PolicyEvent:
    admit = {"type": "Admit", "partition": [f"proof {number}", 0], "reserved_bytes": number}
    said = {"type": "Tick", "number": number}
    return PolicyEvent(run_id=run.id, sequence=number, at_s=number / 10, event=said, decisions=[admit])


def write(history: History, *rows: object) -> None:
    with history.writer() as writer:
        writer.insert(*rows)  # type: ignore[arg-type]  # records
    assert writer.error is None


def count(history: History, model: type, run: Run) -> int:
    with history.read() as session:
        found = session.scalar(select(func.count()).select_from(model).where(model.run_id == run.id))  # type: ignore[attr-defined]  # of a run
        return int(found or 0)


def numbers(history: History, run: Run) -> list[int]:
    return [each.event["number"] for each in policy_events(history, run.id)]


def test_whole_packs_are_packed_and_the_log_stays_as_it_was(history: History, run: Run) -> None:
    history.pack_going_on(run.id)
    assert count(history, PolicyLog, run) == EVENTS // PACK
    assert count(history, PolicyEvent, run) == EVENTS % PACK
    assert count(history, Decision, run) == EVENTS - EVENTS % PACK
    assert numbers(history, run) == list(range(EVENTS))
    write(history, *(event(run, number) for number in range(EVENTS, 2 * EVENTS)))
    history.pack_going_on(run.id)
    assert numbers(history, run) == list(range(2 * EVENTS))
    with history.writer() as writer:
        writer.update(Run, run.id, state="succeeded")
    history.pack()
    assert count(history, PolicyEvent, run) == 0
    assert count(history, Decision, run) == 2 * EVENTS
    assert numbers(history, run) == list(range(2 * EVENTS))


def test_what_comes_once_more_is_not_packed_twice(history: History, run: Run) -> None:
    """As from where it was kept while the database did not answer, though it had taken it."""
    history.pack_going_on(run.id)
    write(history, *(event(run, number) for number in range(5, EVENTS + 3)))
    history.pack_going_on(run.id)
    assert numbers(history, run) == list(range(EVENTS + 3))
    with history.writer() as writer:
        writer.update(Run, run.id, state="interrupted")
    history.pack()
    assert numbers(history, run) == list(range(EVENTS + 3))
    assert count(history, Decision, run) == EVENTS + 3


def test_samples_of_a_run_that_goes_on_are_few_and_keep_the_peaks(history: History, run: Run) -> None:
    for start in (0, 3000, 6000):
        write(
            history,
            *(
                MemorySample(
                    run_id=run.id, sequence=n, at_s=float(n), rss_bytes=n * 37 % 1009, reserved_bytes=0
                )
                for n in range(start, start + 3000)
            ),
        )
        history.pack_going_on(run.id)
        kept = memory_samples(history, run.id)
        assert len(kept) <= packing.FEWEST_SAMPLES
        assert (kept[0].at_s, kept[-1].at_s) == (0.0, start + 2999.0)
        assert max(each.rss_bytes or 0 for each in kept) == 1008


def test_sums_are_the_same_however_many_proofs_are_read_at_a_time(
    history: History, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[object] = []
    for number in range(25):
        proof = Proof(run_id=run.id, name=str(number), circuit=f"c{number % 2}", submitted_s=0.0)
        part = Partition(proof_id=proof.id, index=0, state="succeeded", device="cpu", measured_bytes=number)
        rows += [proof, part]
        for sequence, (name, cause) in enumerate((("wait", "memory"), ("prove", None))):
            rows.append(
                Stage(
                    partition_id=part.id, sequence=sequence, name=name, started_s=0.0,
                    ended_s=float(number), wait_cause=cause,
                )  # type: ignore[arg-type]  # names of stages
            )  # fmt: skip
    write(history, *rows)

    def sums() -> list[dict[str, object]]:
        with history.read() as session:
            found = summaries.summaries_of(session.connection(), run.id)
        return sorted(found, key=lambda row: str(row["circuit"]))

    at_once = sums()
    assert [row["partition_count"] for row in at_once] == [13, 12]
    assert [row["waits_s"] for row in at_once] == [{"memory": 156.0}, {"memory": 144.0}]
    monkeypatch.setattr(summaries, "PROOFS_AT_ONCE", 4)
    assert sums() == at_once
