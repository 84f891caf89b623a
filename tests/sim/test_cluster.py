"""Several hosts behind one queue: which of them takes a proof."""

from __future__ import annotations

from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy import Complete
from sim import ModelledHost
from sim.arrivals import Periodic, Trace
from sim.scenario import Played, play
from tests.sim.cluster import closed, host, opened

PROOF_S, LOAD_S = 4.0, 1.0
"""A proof has the device of such a host to itself, and its keys are loaded, for so long."""
ALONE_S = LOAD_S + 1.0 + PROOF_S + 0.5


def machines(count: int) -> list[ModelledHost]:
    return [host(f"host-{number}", room_for=50, workers=1) for number in range(count)]


def latencies_s(at_s: list[float], hosts: int) -> list[float]:
    played = play(opened(Trace(tuple(at_s)), at_s[-1] + 1.0, *machines(hosts)), seed=0, with_log=True)
    ended_s = sorted(completed_s(played))
    return [end_s - begun_s for begun_s, end_s in zip(at_s, ended_s, strict=True)]


def completed_s(played: Played) -> list[float]:
    return [
        entry.at_s
        for run in played.runs
        for entry in run.log
        for decision in entry.decisions
        if isinstance(decision, Complete)
    ]


@pytest.mark.parametrize("hosts", [2, 3])
def test_keys_in_memory_do_not_draw_all_work_to_one_host(hosts: int) -> None:
    """One host keeps up with a proof every 4 s; memory and slots would let it take all."""
    every_s = 1.1 * PROOF_S / hosts
    played = play(opened(Periodic(every_s), 400.0, *machines(hosts)), seed=0)
    assert played.answers.load == "stable"
    assert played.answers.figures["latency_p99_s[circuit]"] <= ALONE_S + PROOF_S


def test_a_host_that_holds_the_keys_is_taken_where_it_would_be_done_first() -> None:
    played = play(opened(Trace((0.0, 20.0, 40.0)), 50.0, *machines(2)), seed=0, with_log=True)
    assert [len(run.log) > 0 for run in played.runs] == [True, False]
    late = play(opened(Trace((0.0, 20.0, 20.5)), 50.0, *machines(2)), seed=0, with_log=True)
    assert all(run.log for run in late.runs)  # to load takes 1 s, and to wait for the first one 3.5


@settings(deadline=None, max_examples=60)
@given(
    gaps=st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, 5.0]), min_size=1, max_size=30),
    hosts=st.integers(1, 3),
)
def test_one_more_host_costs_no_more_than_to_load_there(gaps: list[float], hosts: int) -> None:
    at_s = [sum(gaps[: number + 1]) for number in range(len(gaps))]
    assert fmean(latencies_s(at_s, hosts + 1)) <= fmean(latencies_s(at_s, hosts)) + LOAD_S + 1e-9


def test_hosts_whose_devices_take_no_part_of_a_proof_share_the_work_too() -> None:
    """All of it is the processors' work before and after: by the synthesis the second host has less to do."""
    hosts = [host(name, workers=1, slots=1, host_before_share=0.5, host_after_share=0.5) for name in "ab"]
    played = play(closed(8, 8, *hosts), seed=0, with_log=True)
    assert all(run.log for run in played.runs)
    assert played.answers.figures["proofs"] == 8
