"""Faults by seed: what fails is tried again, on the host that is up, and nothing is lost or left."""

from __future__ import annotations

from typing import Any

import pytest

from policy import Device, DeviceLost, Displaced, Limits
from sim import ModelledHost, replay
from sim.arrivals import Periodic, Poisson, Trace
from sim.errors import UnplayableError
from sim.faults import Faults
from sim.scenario import play
from tests.sim.cluster import closed, host, opened
from tests.sim.model import profile


def test_failed_stages_are_tried_again_and_counted() -> None:
    answers = play(closed(300, 4, host(), faults={"stage_failures": 0.1, "retries": 5}), seed=1).answers
    figures = answers.figures
    assert figures["proofs"] == 300
    assert figures["proofs_failed"] == 0
    # Of two stages each fails in a tenth: 1 / 0.81 − 1 tries more for each proof.
    assert figures["proofs_retried"] == pytest.approx(300 * (1 / 0.81 - 1), rel=0.3)


def test_without_retries_what_fails_is_lost_and_misses_its_deadline() -> None:
    faults = {"stage_failures": 0.3, "retries": 0}
    scenario = opened(Periodic(20.0), 4000.0, host(), faults=faults, deadline_s=100.0)
    figures = play(scenario, seed=0).answers.figures
    assert figures["proofs"] + figures["proofs_failed"] == 200
    assert figures["deadlines_missed[circuit]"] == figures["proofs_failed"] > 50


def two_devices(**others: Any) -> ModelledHost:
    devices = (Device("gpu0", 2, 1000), Device("gpu1", 2, 1000))
    return ModelledHost("host", Limits(1000, 8, devices), profile(**others))


def test_what_a_lost_device_was_proving_is_proved_by_another() -> None:
    faults = {"device_loss": 40.0, "device_repair": 30.0, "restart": 5.0}
    played = play(closed(60, 8, two_devices(), faults=faults), seed=0, with_log=True)
    clean = play(closed(60, 8, two_devices()), seed=0).answers.figures
    figures = played.answers.figures
    assert (figures["proofs"], figures["proofs_failed"]) == (60, 0)
    assert figures["makespan_s"] > clean["makespan_s"] + 30
    events = [entry.event for run in played.runs for entry in run.log]
    assert any(isinstance(event, Displaced) for event in events)
    assert sum(isinstance(event, DeviceLost) for event in events) >= 1
    assert len(played.runs) > 1  # it began anew with both devices


def test_without_another_device_a_host_waits_for_the_repair() -> None:
    faults = {"device_loss": 40.0, "device_repair": 30.0}
    played = play(closed(20, 4, host(workers=2), faults=faults), seed=1, with_log=True)
    assert played.answers.figures["proofs"] == 20
    assert len(played.runs) >= 2
    gap_s = played.runs[1].log[0].at_s - played.runs[0].log[-1].at_s
    assert gap_s >= 30.0
    figures = played.answers.figures  # and all that is left of the batch waits meanwhile
    away_s = 30.0 * (len(played.runs) - 1)
    assert figures["binding_share[host away]"] == pytest.approx(away_s / figures["makespan_s"])


def test_a_log_with_lost_devices_replays_to_the_same_decisions() -> None:
    faults = {"device_loss": 30.0, "device_repair": 20.0, "stage_failures": 0.05, "retries": 9}
    played = play(closed(60, 8, two_devices(), faults=faults), seed=0, with_log=True)
    for run in played.runs:
        again = replay(run.limits, [(entry.at_s, entry.event) for entry in run.log])
        assert [each.decisions for each in again] == [entry.decisions for entry in run.log]


def test_a_process_that_dies_begins_anew_with_nothing_in_memory() -> None:
    faults = {"process_death": 60.0, "restart": 10.0}
    played = play(closed(40, 2, host(), faults=faults), seed=2, with_log=True)
    figures = played.answers.figures
    assert figures["proofs"] == 40
    assert len(played.runs) >= 2
    assert [run.name for run in played.runs[:2]] == ["host", "host, start 2"]
    assert figures["loads"] == 2 * len([run for run in played.runs if run.log])


def test_the_proofs_of_a_dead_host_go_to_one_that_lives() -> None:
    faults = {"process_death": 100.0, "restart": 1e6}
    figures = play(closed(60, 4, host("a"), host("b"), faults=faults), seed=5).answers.figures
    assert figures["proofs"] >= 1
    assert figures["makespan_s"] > 0


def test_a_slow_disk_makes_loads_longer() -> None:
    faults = {"slow_disk": 0.001, "slow_disk_for": 1000.0, "slow_disk_factor": 10.0}
    one = host(load={"seconds": 1.0, "bytes_per_s": 1e9})
    slow = play(opened(Trace((1.0,)), 10.0, one, faults=faults), seed=0).answers.figures
    quick = play(opened(Trace((1.0,)), 10.0, one), seed=0).answers.figures
    assert slow["makespan_s"] - quick["makespan_s"] == pytest.approx(2 * 9.0)  # two entries


def test_everything_at_once_ends_with_every_proof_told_of() -> None:
    faults = {
        "stage_failures": 0.05, "device_loss": 300.0, "device_repair": 20.0, "process_death": 500.0,
        "restart": 30.0, "slow_disk": 200.0, "retries": 3,
    }  # fmt: skip
    for seed in range(5):
        scenario = opened(Poisson(0.1), 5_000.0, host("a"), host("b", workers=1), faults=faults)
        figures = play(scenario, seed=seed).answers.figures
        told = figures["proofs"] + figures["proofs_failed"] + figures["proofs_unfinished"]
        assert told == sum(scenario.workload.counts(seed))  # type: ignore[union-attr]
        assert figures["proofs_unfinished"] == 0


def test_faults_are_the_same_for_a_seed() -> None:
    scenario = closed(50, 4, host(), faults={"stage_failures": 0.1, "process_death": 60.0})
    assert play(scenario, seed=7) == play(scenario, seed=7)
    assert play(scenario, seed=7) != play(scenario, seed=8)


@pytest.mark.parametrize("fault", ["process_death", "device_loss"])
def test_a_batch_that_loses_all_again_and_again_is_given_up(fault: str) -> None:
    with pytest.raises(UnplayableError, match=r"never finishes: 1,001 times .* give a longer mean time"):
        play(closed(3, 3, host(), faults={fault: 0.2}), seed=0)


def test_so_are_arrivals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.cluster.MOST_LOSSES", 50)
    with pytest.raises(UnplayableError, match="never finishes: 51 times"):
        play(opened(Periodic(600.0), 86_400.0, host(), faults={"process_death": 0.2}), seed=0)


def test_deaths_while_nothing_is_proved_do_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many more than are put up with, all of them between two proofs."""
    monkeypatch.setattr("sim.cluster.MOST_LOSSES", 20)
    faults = {"process_death": 20.0, "restart": 0.0}
    scenario = opened(Trace((0.0, 3000.0)), 3600.0, host(), faults=faults)
    played = play(scenario, seed=0, with_log=True)
    assert played.answers.figures["proofs"] == 2
    assert len(played.runs) > 100


def test_how_faults_go_on_is_told_where_it_is_assumed() -> None:
    repaired = [
        "a lost device is back after 10 min (no device_repair)",
        "a process that died, or gets one of several devices back, begins anew after 60 s (no restart)",
    ]
    assert Faults(device_loss=86_400.0).assumed() == repaired
    assert Faults(device_loss=86_400.0, device_repair=60.0, restart=9.0).assumed() == []
    assert Faults(stage_failures=0.1).assumed() == ["what fails is tried again 2 times (no retries)"]
    assert Faults(slow_disk=60.0).assumed() == [
        "a disk is slow for 10 min (no slow_disk_for)", "it is 5 times as slow then (no slow_disk_factor)"
    ]  # fmt: skip
    assert Faults(process_death=60.0).assumed() == repaired[1:]
    assert Faults().assumed() == []


def test_a_host_that_no_waiting_proof_fits_is_not_missed() -> None:
    """Its loss is not what the proofs wait for."""
    hosts = host("small", room_for=-1), host("large", room_for=1, workers=1)  # the small one fits nothing
    faults = {"process_death": 20.0, "restart": 1000.0}
    runs = play(closed(30, 8, *hosts, faults=faults), seed=0, with_log=True).runs
    answers = play(closed(30, 8, *hosts, faults=faults), seed=0).answers
    away_s = 1000.0 * sum(run.name.startswith("large, start") for run in runs)
    counted_s = answers.figures["makespan_s"] * answers.figures["binding_share[host away]"]
    assert counted_s <= away_s
