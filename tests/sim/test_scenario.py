"""A workload on hosts: what is answered, checked against sums that can be done by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from db import memory_samples, open_history
from policy import Admit, Circuit, Entry, Priority
from sim import Batch, ModelledHost, SimError, record, simulate
from sim.arrivals import Arrivals, Periodic, Poisson, Trace
from sim.circuits import SimCircuit
from sim.scenario import Scenario, play
from sim.workload import ClosedLoop, OpenLoop
from tests.sim.cluster import SIM_CIRCUIT, closed, host, opened
from tests.sim.model import CIRCUIT, limits, profile


def test_a_batch_on_one_host_goes_as_simulate_has_it_go() -> None:
    one, batch = host(room_for=2), Batch(CIRCUIT, 5, 3, constraints=1)
    played = play(closed(5, 3, one), seed=0, with_log=True)
    run = simulate(batch, one.limits, one.profile)
    assert [(e.at_s, e.event) for e in played.runs[0].log] == [(e.at_s, e.event) for e in run.log]
    assert played.answers.figures["makespan_s"] == run.end_s


def test_the_figures_of_one_proof_are_those_of_its_stages() -> None:
    answers = play(closed(1, 1, host()), seed=0).answers
    figures = answers.figures
    assert (answers.loop, answers.verdict, answers.over_budget) == ("closed", "completes", False)
    assert figures["makespan_s"] == figures["seconds_a_proof"] == pytest.approx(6.5)
    assert figures["speed_of_light_s"] == pytest.approx(5.5)  # nothing has to be loaded
    assert figures["latency_p50_s[circuit]"] == figures["latency_p99_s[circuit]"] == pytest.approx(6.5)
    assert figures["proofs_an_hour"] == pytest.approx(3600 / 6.5)
    assert figures["peak_reserved_bytes"] == 120
    assert figures["device_use_share"] == pytest.approx(4 / 6.5)
    assert (figures["loads"], figures["reloads"], figures["evictions"]) == (2, 0, 0)
    assert figures["waited_s[load]"] == pytest.approx(1.0)
    assert figures["binding_share[loads of keys]"] == pytest.approx(1 / 6.5)
    assert figures["binding_share[nothing]"] == pytest.approx(5.5 / 6.5)


@pytest.mark.parametrize(
    ("changes", "resource"),
    [
        ({"room_for": 1}, "memory"),
        ({"slots": 1, "synthesize": {"seconds": 9.0}}, "cores"),
        ({"workers": 1}, "devices"),
        ({"load": {"bytes_per_s": 0.1}}, "loads of keys"),
    ],
)
def test_the_scarce_resource_is_the_binding_one(changes: dict[str, object], resource: str) -> None:
    figures = play(closed(30, 10, host(**changes)), seed=0).answers.figures
    shares = {name: value for name, value in figures.items() if name.startswith("binding_share")}
    assert sum(shares.values()) == pytest.approx(1.0)
    assert max(shares, key=lambda name: shares[name]) == f"binding_share[{resource}]"


def test_fixed_concurrency_may_be_over_the_budget_and_the_answers_say_so() -> None:
    answers = play(closed(5, 5, host(room_for=2), policy="fixed:4"), seed=0).answers
    assert answers.over_budget
    assert answers.figures["peak_reserved_bytes"] == 180 > answers.figures["budget_bytes"] == 140


def test_what_is_resident_and_not_reserved_may_be_more_than_there_is() -> None:
    """A working set of 20 takes 20 more while it proves: 8 in all that the policy knows nothing of."""
    one = host(room_for=2, memory={"prove_scratch_share": 1.0, "base": 3})
    enough = ModelledHost("enough", one.limits, one.profile, memory_bytes=183)
    short = ModelledHost("short", one.limits, one.profile, memory_bytes=182)
    answers = [play(closed(6, 6, each), seed=0).answers for each in (enough, short)]
    assert [each.figures["peak_resident_bytes"] for each in answers] == [183, 183]
    assert [each.over_budget for each in answers] == [False, True]


def test_evictions_and_reloads_are_counted() -> None:
    other = Circuit("other", (Entry("other srs", 100),), 10, 10)
    batches = (Batch(CIRCUIT, 2, 1, constraints=1), Batch(other, 2, 1, constraints=1))
    figures = play(Scenario(ClosedLoop(batches), (host(room_for=1),)), seed=0).answers.figures
    assert figures["evictions"] >= 1
    assert figures["loads"] - figures["reloads"] == 3


def test_two_hosts_share_one_queue() -> None:
    one = play(closed(12, 12, host("a", room_for=1)), seed=0).answers.figures
    two = play(closed(12, 12, host("a", room_for=1), host("b", room_for=1)), seed=0, with_log=True)
    assert two.answers.figures["makespan_s"] == pytest.approx((one["makespan_s"] - 1.0) / 2 + 1.0, rel=0.05)
    admitted = [sum(isinstance(d, Admit) for e in run.log for d in e.decisions) for run in two.runs]
    assert admitted == [6, 6]
    assert two.answers.figures["device_use_share"] <= 1.0


def test_a_proof_goes_where_it_fits() -> None:
    hosts = (host("small", room_for=1), host("large", room_for=6))
    big = Circuit("big", (Entry("big srs", 100),), 60, 20)
    batch = Batch(big, 3, 3, constraints=1)
    played = play(Scenario(ClosedLoop((batch,)), hosts), seed=0, with_log=True)
    assert [len(run.log) > 0 for run in played.runs] == [False, True]
    assert played.answers.figures["proofs"] == 3


def test_what_fits_no_host_is_refused_with_what_would_fit() -> None:
    huge = Circuit("huge", (Entry("huge srs", 1000),), 10, 10)
    scenario = Scenario(ClosedLoop((Batch(huge, 1, 1, constraints=1),)), (host("a"), host("b")))
    with pytest.raises(SimError, match=r"huge never fits: on host a one partition .* would do"):
        play(scenario, seed=0)


def test_a_critical_proof_does_not_queue_behind_normal_ones() -> None:
    urgent = Arrivals(SIM_CIRCUIT, Trace((50.0,)), priority=Priority.CRITICAL)
    other = SimCircuit(Circuit("other", (Entry("o", 10),), 10, 10), 1)
    often = Arrivals(other, Periodic(1.0))
    hosts = tuple(host(name, room_for=2, workers=1) for name in "ab")
    workload = OpenLoop((urgent, often), 100.0)
    figures = play(Scenario(workload, hosts), seed=0).answers.figures
    assert figures["binding_share[devices]"] + figures["binding_share[memory]"] > 0.5
    assert figures["proofs"] == 101


def test_arrivals_below_capacity_are_stable_and_above_it_overloaded() -> None:
    one = host(workers=1, spread=0.1)  # 4 s on the device for each proof
    stable = play(opened(Poisson(1 / 10), 20_000, one), seed=1).answers
    assert stable.verdict == "stable"
    assert stable.figures["proofs_an_hour"] == pytest.approx(360, rel=0.1)
    assert stable.figures["device_use_share"] == pytest.approx(0.4, rel=0.1)
    assert stable.figures["latency_p50_s[circuit]"] >= 5.0
    over = play(opened(Poisson(1 / 3), 20_000, one), seed=1).answers
    assert over.verdict == "overloaded"
    assert not [name for name in over.figures if name.startswith("latency")]
    assert over.figures["proofs_an_hour"] == pytest.approx(900, rel=0.02)


def test_what_mostly_waits_but_is_done_in_the_end_is_backlogged() -> None:
    at_once = Arrivals(SIM_CIRCUIT, Periodic(1000.0), count=200)
    one = host(workers=1, room_for=2)
    answers = play(Scenario(OpenLoop((at_once,), 20_000), (one,)), seed=0).answers
    assert answers.verdict == "backlogged"


def test_deadlines_that_were_missed_are_counted_by_circuit() -> None:
    figures = play(opened(Periodic(3.0), 30.0, host(workers=1), deadline_s=9.0), seed=0).answers.figures
    late = [1 + 1 + 4 * number + 4.5 - 3 * number > 9.0 for number in range(10)]
    assert figures["deadlines_missed[circuit]"] == sum(late)
    assert figures["deadlines_missed_share[circuit]"] == sum(late) / 10


def test_waiting_times_grow_as_queueing_theory_says() -> None:
    """M/D/1: with one device, Poisson arrivals and equal service times, W = ρs / (2(1 − ρ))."""
    quick = profile(load={"bytes_per_s": 1e9}, synthesize={"seconds": 1e-9}, verify={"seconds": 1e-9})
    one = ModelledHost("one", limits(500, 500, 500), quick)
    scenario = opened(Poisson(0.15), 100_000, one)
    played = play(scenario, seed=3, with_log=True)
    submitted = {e.event.job.id: e.at_s for e in played.runs[0].log if hasattr(e.event, "job")}
    ended = {
        d.job_id: e.at_s for e in played.runs[0].log for d in e.decisions if type(d).__name__ == "Complete"
    }
    mean_s = sum(ended[job] - submitted[job] for job in ended) / len(ended)
    load = 0.15 * 4
    assert mean_s == pytest.approx(4 + load * 4 / (2 * (1 - load)), rel=0.05)


def test_nothing_that_arrives_is_refused() -> None:
    with pytest.raises(SimError, match="nothing arrives in 10 s"):
        play(opened(Trace((20.0,)), 10.0, host()), seed=0)


def test_an_open_loop_lasts_from_its_first_proof_on() -> None:
    """However long nothing comes before; and its work takes no longer than that."""
    early, late = (
        play(opened(Trace(at_s), 1e6, host()), seed=0).answers for at_s in ((0.0, 5.0), (9e5, 900_005.0))
    )
    for name in ("makespan_s", "speed_of_light_s"):
        assert late.figures[name] == pytest.approx(early.figures[name])
    assert late.figures["speed_of_light_s"] <= late.figures["makespan_s"] < 60
    assert late.load == early.load == "stable"


def test_what_is_resident_is_told_beside_what_is_reserved(tmp_path: Path) -> None:
    one = host(room_for=2, memory={"prove_scratch_share": 1.0, "base": 3})
    played = play(closed(6, 6, one), seed=0, with_log=True)
    (run,) = played.runs
    assert len(run.resident_bytes) == len(run.log)
    assert max(run.resident_bytes) == played.answers.figures["peak_resident_bytes"] == 183
    with open_history(tmp_path / "history.db") as history:
        with history.writer() as writer:
            run_id = record(run, writer, name="what if", code_version="test")
        samples = memory_samples(history, run_id)
    assert [sample.rss_bytes for sample in samples] == list(run.resident_bytes)
