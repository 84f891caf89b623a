"""Percentiles, changes, waits and failures, against values that can be worked out by hand."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import product
from statistics import fmean, median

import numpy as np
import pytest
from sqlalchemy import select, update

from db import (
    Filter,
    History,
    HistoryError,
    MemorySample,
    Partition,
    PolicyEvent,
    Proof,
    Run,
    Stage,
    compare_runs,
    failure_rates,
    failures,
    memory_samples,
    stage_statistics,
    trend,
    wait_totals,
)
from db.comparison import change
from db.packing import kept_samples

START = datetime(2026, 3, 2, 12, tzinfo=UTC)  # a Monday
Write = Callable[..., Run]


@pytest.fixture
def write(history: History) -> Write:
    """Write a run with one partition for each number of seconds that it was proved in."""

    def made(seconds: Sequence[float], circuit: str = "merkle", **of_run: object) -> Run:
        values = {"source": "real", "name": "b", "code_version": "1", "state": "succeeded", **of_run}
        run = Run(**{"started_at": START, **values})  # type: ignore[arg-type]  # as the test gives them
        with history.writer() as writer:
            writer.insert(run)
            for number, prove_s in enumerate(seconds):
                proof = Proof(run_id=run.id, name=f"p{number}", circuit=circuit, submitted_s=0.0)
                part = Partition(
                    proof_id=proof.id, index=0, state="succeeded", device="cpu", measured_bytes=number
                )
                ends = [("wait", 2.0, "memory"), ("prove", prove_s, None)]
                writer.insert(proof, part)
                for sequence, (name, ended_s, cause) in enumerate(ends):
                    stage = Stage(
                        partition_id=part.id, sequence=sequence, name=name, started_s=0.0, ended_s=ended_s,
                        wait_cause=cause,
                    )  # type: ignore[arg-type]  # fmt: skip
                    writer.insert(stage)
        assert writer.error is None
        return run

    return made


@pytest.mark.parametrize("packed", [False, True])
def test_percentiles_are_those_of_all_partitions_of_a_group(
    history: History, write: Write, packed: bool
) -> None:
    write([float(n) for n in range(1, 61)])
    write([float(n) for n in range(61, 102)], started_at=START + timedelta(days=7))
    write([5.0], circuit="other")
    if packed:
        history.pack()
    found = {(row.group, row.stage): row for row in stage_statistics(history, ("circuit", "device"))}
    prove = found[("merkle", "cpu"), "prove"]
    assert (prove.count, prove.mean, prove.p50, prove.max) == (101, 51.0, 51.0, 101.0)
    assert (prove.p90, prove.p99) == (91.0, 100.0)
    assert found[("merkle", "cpu"), "measured_bytes"].max == 59.0
    assert found[("other", "cpu"), "prove"].p99 == 5.0
    assert (("merkle", "cpu"), "verify") not in found
    weeks = [row.group for row in stage_statistics(history, ("week",)) if row.stage == "prove"]
    assert weeks == [("2026-W10",), ("2026-W11",)]


def test_the_filters_let_through_what_they_say(history: History, write: Write) -> None:
    write([1.0])
    write([2.0], source="sim", host="far", started_at=START + timedelta(days=1))
    history.pack()

    def seen(**where: object) -> list[float]:
        rows = stage_statistics(history, ("circuit",), Filter(**where))  # type: ignore[arg-type]
        return [row.mean for row in rows if row.stage == "prove"]

    assert seen() == [1.5]
    assert seen(source="sim") == seen(host="far") == seen(since=START + timedelta(hours=1)) == [2.0]
    assert seen(source="real") == seen(until=START + timedelta(hours=1)) == [1.0]
    assert seen(circuit="merkle", state="succeeded", device="cpu") == [1.5]
    assert seen(circuit="x") == seen(state="failed") == seen(device="gpu") == []


def test_a_change_is_called_what_it_is(history: History, write: Write) -> None:
    noise = np.random.default_rng(3).normal(0, 0.05, 40)
    before = write([10 + x for x in noise])
    slower = write([11 + x for x in noise[::-1]])
    same = write([10 + x for x in noise[::-1]])
    few = write([7.0, 7.0])
    history.pack()

    def verdict(run: Run) -> str:
        (prove,) = [each for each in compare_runs(history, before.id, run.id) if each.stage == "prove"]
        return prove.verdict

    assert [verdict(run) for run in (slower, same, few)] == ["slower", "noise", "too few"]
    (prove,) = [each for each in compare_runs(history, slower.id, before.id) if each.stage == "prove"]
    assert prove.verdict == "faster"
    assert prove.low < 10 / 11 - 1 < prove.high
    with pytest.raises(HistoryError, match="no circuit was proved in both"):
        compare_runs(history, before.id, write([1.0], circuit="other").id)


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    random = np.random.default_rng(7)
    covered = 0
    for _ in range(100):
        before, after = random.normal(10, 1, 30), random.normal(12, 1, 30)
        found = change("prove", before.astype(np.float32), after.astype(np.float32))
        covered += found.low <= 12 / 10 - 1 <= found.high
    assert covered >= 93  # of 99 expected; fewer come once in ten thousand times


def test_the_interval_is_that_of_all_resamples() -> None:
    """Of three values each there are 27 x 27 resamples, of which the shares are exact."""
    before, after = [1.0, 2.0, 6.0], [0.0, 0.5, 9.0]
    found = change("prove", np.array(before, np.float32), np.array(after, np.float32))
    means = [[fmean(some) for some in product(values, repeat=3)] for values in (before, after)]
    every = sorted(over / under - 1 for under, over in product(*means))
    shares = [sum(each < bound - 1e-6 for each in every) / len(every) for bound in (found.low, found.high)]
    up_to = [sum(each <= bound + 1e-6 for each in every) / len(every) for bound in (found.low, found.high)]
    assert shares[0] <= 0.01
    assert up_to[0] >= 0.002
    assert shares[1] <= 0.998
    assert up_to[1] >= 0.99
    assert (found.low, found.change) == (-1.0, pytest.approx(3.1667 / 3 - 1, abs=1e-4))


@pytest.mark.parametrize("count", [200, 4_000])  # of the more only some are resampled
def test_the_interval_is_as_wide_as_the_spread_says(count: int) -> None:
    """The logarithm of the ratio is about normal, of variance 2 (spread / mean)^2 / count."""
    random = np.random.default_rng(11)
    before, after = random.gamma(4, 1, count), random.gamma(4, 2, count)
    found = change("prove", before.astype(np.float32), after.astype(np.float32))
    widths = (np.log1p(found.high) - np.log1p(found.low)) / (2 * 2.576 * (2 * 0.25 / count) ** 0.5)
    assert 0.8 < widths < 1.2
    assert found.low < 1 < found.high


def test_no_interval_is_impossible() -> None:
    rare = np.array([0.001] * 6 + [9.0], np.float32)
    itself = change("prove", rare, rare)
    assert -1 <= itself.low < 0 < itself.high
    assert itself.verdict == "noise"
    often_zero = np.array([0, 0, 0, 0, 5], np.float32)
    found = change("wait", often_zero, often_zero)
    assert (found.low, found.high, found.verdict) == (-1.0, np.inf, "noise")
    many = np.random.default_rng(5).pareto(1.05, 400).astype(np.float32)
    assert change("prove", many, many).low >= -1


def test_runs_whose_proofs_failed_are_not_called_of_other_circuits(history: History, write: Write) -> None:
    good, bad, other = write([1.0] * 3), write([1.0], state="failed"), write([1.0], circuit="other")
    with history.writer() as writer:
        died = Run(source="real", name="d", code_version="1", state="failed", started_at=START)
        writer.insert(died)
        writer.insert(Proof(run_id=died.id, name="p", circuit="merkle", state="failed", submitted_s=0.0))
    with history.read() as session:
        session.execute(
            update(Partition)
            .values(state="failed")
            .where(Partition.proof_id.in_(select(Proof.id).where(Proof.run_id == bad.id)))
        )
        session.commit()
    for failed in (bad, died):
        with pytest.raises(HistoryError, match=f"run {failed.id}: no proof of merkle succeeded in it"):
            compare_runs(history, good.id, failed.id)
    with pytest.raises(HistoryError, match="no circuit was proved in both"):
        compare_runs(history, bad.id, other.id)


def test_a_trend_tells_versions_in_the_order_of_their_first_runs(history: History, write: Write) -> None:
    for day, (version, seconds) in enumerate([("b", 10.0), ("a", 10.0), ("a", 20.0), ("c", 5.0)]):
        write([seconds + n / 100 for n in range(10)], code_version=version, started_at=START + timedelta(day))
    points = trend(history)
    assert [(point.point, point.count) for point in points] == [("b", 10), ("a", 20), ("c", 10)]
    assert [point.change and point.change.verdict for point in points] == [None, "slower", "faster"]
    both = [*(10 + n / 100 for n in range(10)), *(20 + n / 100 for n in range(10))]
    assert points[1].mean_s == pytest.approx(fmean(both))
    assert points[1].p50_s == pytest.approx(median(both))
    assert [point.point for point in trend(history, by="day")][:2] == ["2026-03-02", "2026-03-03"]


def test_waits_add_up_by_their_cause(history: History, write: Write) -> None:
    write([1.0] * 3)
    write([1.0], circuit="other")
    totals = [(t.circuit, t.cause, t.seconds, t.partition_count) for t in wait_totals(history)]
    assert totals == [("merkle", "memory", 6.0, 3), ("other", "memory", 2.0, 1)]


def test_failures_come_newest_first_with_their_share(history: History, write: Write) -> None:
    runs = [write([1.0] * 4), write([1.0], started_at=START + timedelta(days=1))]
    with history.writer() as writer:
        for number, run in enumerate(runs):
            proof = Proof(
                run_id=run.id, name=f"bad {number}", circuit="merkle", state="failed", submitted_s=1.0,
                ended_s=90.0, error="full",
            )  # fmt: skip
            writer.insert(proof, Partition(proof_id=proof.id, index=0, state="failed"))
    found = failures(history)
    assert [(each.proof, each.at, each.error) for each in found] == [
        ("bad 1", START + timedelta(days=1, seconds=90), "full"),
        ("bad 0", START + timedelta(seconds=90), "full"),
    ]
    assert len(failures(history, limit=1)) == 1
    assert failures(history, Filter(state="interrupted")) == failures(history, Filter(circuit="x")) == []
    (rate,) = failure_rates(history)
    assert (rate.partition_count, rate.failed_count) == (7, 2)


def test_packing_keeps_the_ends_and_the_peaks_of_many_samples(history: History, write: Write) -> None:
    run = write([1.0], state="running")
    values = [(n * 37) % 1009 for n in range(1000)]
    with history.writer() as writer:
        writer.insert(
            *(
                MemorySample(run_id=run.id, sequence=n, at_s=n / 10, rss_bytes=v, reserved_bytes=1008 - v)
                for n, v in enumerate(values)
            )
        )
        event = {"type": "Loaded", "entry_key": "srs"}
        writer.insert(PolicyEvent(run_id=run.id, sequence=0, at_s=1.0, event=event, decisions=[]))
        writer.update(Run, run.id, state="succeeded")
    history.pack()
    kept = memory_samples(history, run.id)
    assert len(kept) <= 252
    assert (kept[0].at_s, kept[-1].at_s) == (0.0, 99.9)
    assert max(sample.rss_bytes or 0 for sample in kept) == max(values)
    assert max(sample.reserved_bytes for sample in kept) == 1008 - min(values)


def test_samples_of_one_moment_are_thinned_too() -> None:
    samples = [{"sequence": n, "at_s": 0.0, "rss_bytes": None, "reserved_bytes": n} for n in range(50)]
    assert kept_samples(samples, 10) >= {0, 49}
    assert len(kept_samples(samples, 10)) <= 10
    assert kept_samples(samples, 50) == set(range(50))
