"""What a profile learns from the log of a run is what the run was made with."""

from dataclasses import replace
from statistics import fmean

import pytest

from policy import Circuit, Entry, Job, Loaded, Shared
from sim import MachineProfile, SimError
from sim.calibrate import calibrate
from sim.contention import Cores
from sim.predict import figures_of, predict, simulate_requests
from sim.replay import Recorded, RecordedRun
from sim.requests import Requests, requests_of
from tests.sim.model import CIRCUIT, limits, profile

LARGE = Circuit("large", (Entry("large srs", 60),), phase1_bytes=30, phase2_bytes=10)
CORES = Cores(count=4, synthesis_threads=2, proving_threads=4, proving_cores=4.0)
TIMES = {
    "circuit": {"synthesize_s": [0.9, 1.0, 1.1], "prove_s": [0.4, 0.5, 0.6], "verify_s": [0.1]},
    "large": {"synthesize_s": [0.2], "prove_s": [2.8, 3.0, 3.2], "verify_s": [0.1], "working_bytes": 25},
}


def machine(**changes: object) -> MachineProfile:
    return profile(circuits=TIMES, memory={"base": 500}, **changes)


def requests(count: int, concurrency: int) -> Requests:
    circuits = (CIRCUIT, LARGE)
    jobs = [Job(f"job {number}", circuits[number % 2]) for number in range(count)]
    return Requests(tuple(jobs), concurrency, (0.0,) * count)


def recorded(asked: Requests, of: MachineProfile, seed: int = 0, room_for: int = 20) -> RecordedRun:
    given = limits(room_for, slots=4, workers=2)
    run = simulate_requests(asked, given, of, seed=seed)
    log = tuple(Recorded(entry.at_s, entry.event, entry.decisions) for entry in run.log.entries)
    peak_rss_bytes = round(run.peak_rss_bytes)
    return RecordedRun("run", given, "budget", log, peak_rss_bytes, run.peak_reserved_bytes)


@pytest.mark.parametrize("cores", [None, CORES])
def test_times_alone_are_found_in_a_run_of_two_circuits(cores: Cores | None) -> None:
    changes = {} if cores is None else {"cores": cores}
    run = recorded(requests(60, 5), machine(**changes))
    learned = calibrate([run], profile(), "learned", cores)
    found = learned.profile.circuits
    assert fmean(found["circuit"].synthesize_s) == pytest.approx(1.0, rel=0.05)
    assert fmean(found["circuit"].prove_s) == pytest.approx(0.5, rel=0.15)
    assert fmean(found["large"].prove_s) == pytest.approx(3.0, rel=0.1)
    assert found["large"].working_bytes == (None if cores is None else 25)
    assert learned.profile.memory.base == pytest.approx(500, abs=50)
    assert learned.profile.quotient_share == pytest.approx(0.5, abs=0.15)
    if cores is not None:
        assert learned.profile.cores == CORES


@pytest.mark.parametrize(
    ("count", "concurrency", "room_for"), [(20, 1, 20), (90, 5, 20), (60, 9, 20), (40, 6, 3)]
)
def test_what_is_learned_from_one_batch_predicts_others(count: int, concurrency: int, room_for: int) -> None:
    real = machine(cores=CORES)
    learned = calibrate([recorded(requests(60, 5), real)], profile(), "learned", CORES).profile
    other = recorded(requests(count, concurrency), real, seed=9, room_for=room_for)
    was = figures_of(other.log, other.peak_reserved_bytes, other.peak_rss_bytes)
    predicted = predict(requests_of(other.log, "other"), other.limits, learned)
    assert predicted["makespan_s"] == pytest.approx(was["makespan_s"], rel=0.05)
    assert predicted["peak_rss_bytes"] == pytest.approx(was["peak_rss_bytes"], rel=0.08)


def test_what_rests_on_little_is_told() -> None:
    thin = calibrate([recorded(requests(6, 1), machine())], profile(), "learned").thin
    assert "circuit: synthesize was seen 3 times; its spread is a guess" in thin
    assert "only 1 at a time was seen to prove; what more or fewer do is assumed" in thin


def test_a_closed_loop_and_arrivals_are_told_apart() -> None:
    closed = recorded(requests(12, 3), machine())
    assert requests_of(closed.log, "closed").concurrency == 3
    late = Requests(requests(4, 1).jobs, None, (0.0, 5.0, 40.0, 90.0))
    found = requests_of(recorded(late, machine()).log, "open")
    assert (found.concurrency, found.at_s) == (None, (0.0, 5.0, 40.0, 90.0))


def test_what_came_from_outside_is_told_in_words() -> None:
    run = recorded(requests(2, 1), machine())
    shared = Recorded(run.log[-1].at_s, Shared(1), ())
    with pytest.raises(
        SimError, match="run beside: another process of the host took its share of the memory"
    ):
        requests_of([*run.log, shared], "beside")


def test_a_run_without_proofs_is_no_example() -> None:
    run = recorded(requests(2, 1), machine())
    with pytest.raises(SimError, match="has no proofs"):
        calibrate([replace(run, log=())], profile(), "learned")


def test_a_small_entry_counts_little_in_what_entries_really_take() -> None:
    """Memory is right where only the large one differs from what the circuit says, or the small one."""
    run = recorded(requests(12, 3), machine())
    sizes = {"srs": 80, "pce": 10, "large srs": 60}  # of 80, 20 and 60
    log = tuple(
        replace(entry, event=replace(entry.event, size_bytes=sizes[entry.event.entry_key]))
        if isinstance(entry.event, Loaded)
        else entry
        for entry in run.log
    )
    circuits = calibrate([replace(run, log=log)], machine(), "learned").profile.circuits
    assert circuits["circuit"].loaded_share == pytest.approx(0.9)
    assert circuits["large"].loaded_share == pytest.approx(1.0)
