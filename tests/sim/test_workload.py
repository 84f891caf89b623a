"""Workloads: when proofs arrive, and what a file may say."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from zoneinfo import ZoneInfo

import pytest

from policy import Priority
from sim import Batch, SimError
from sim.arrivals import Arrivals, Cron, Periodic, Poisson, Trace
from sim.quantities import bandwidth, duration, rate, share, size
from sim.scenario import Scenario, play
from sim.size import Size, check_size, is_kept, sizes_of, warnings
from sim.workload import START, ClosedLoop, OpenLoop
from sim.workload_file import EXAMPLE, read_workload_table, workload_of
from tests.sim.cluster import SIM_CIRCUIT, host
from tests.sim.model import CIRCUIT as CIRCUIT_SHAPE

DAY_S = 86_400.0


def test_poisson_arrivals_have_their_rate_and_are_memoryless() -> None:
    times = list(Poisson(0.01)(1_000_000, START, "seed"))
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert fmean(gaps) == pytest.approx(100, rel=0.05)
    assert fmean([gap**2 for gap in gaps]) == pytest.approx(2 * 100**2, rel=0.1)
    assert list(Poisson(0.01)(1_000_000, START, "seed")) == times
    assert list(Poisson(0.01)(1_000_000, START, "other")) != times


def test_periodic_arrivals_begin_at_their_offset() -> None:
    assert list(Periodic(10.0, 3.0)(30.0, START, "")) == [3.0, 13.0, 23.0]


def test_cron_follows_its_zone_through_a_change_of_clocks() -> None:
    start = datetime(2026, 3, 28, tzinfo=UTC)
    at_s = list(Cron("30 12 * * *", ZoneInfo("Europe/Berlin"))(3 * DAY_S, start, ""))
    hours = [each / 3600 for each in at_s]
    assert hours == [11.5, 24 + 10.5, 48 + 10.5]  # summer time begins on the 29th


def test_cron_at_the_start_itself_counts() -> None:
    assert list(Cron("*/30 * * * *", ZoneInfo("UTC"))(3600.0, START, "")) == [0.0, 1800.0]


def test_a_trace_is_cut_at_the_end() -> None:
    assert list(Trace((5.0, 1.0, 99.0))(10.0, START, "")) == [1.0, 5.0]


def test_requests_are_merged_in_order_and_named_by_circuit() -> None:
    loop = OpenLoop(
        (
            Arrivals(SIM_CIRCUIT, Periodic(10.0), count=2, deadline_s=7.0),
            Arrivals(SIM_CIRCUIT, Trace((5.0,)), priority=Priority.HIGH, partitions=3),
        ),
        15.0,
    )
    found = list(loop.requests(seed=0))
    assert loop.counts(seed=0) == [4, 1]
    assert [at_s for at_s, _ in found] == [0.0, 0.0, 5.0, 10.0, 10.0]
    assert [request.name for _, request in found] == [f"circuit #{n}" for n in range(1, 6)]
    assert [request.due_s for _, request in found] == [7.0, 7.0, None, 17.0, 17.0]
    assert (found[2][1].priority, found[2][1].partitions) == (Priority.HIGH, 3)


def test_the_example_is_a_month_of_a_storage_provider() -> None:
    workload = workload_of(read_workload_table(EXAMPLE), EXAMPLE.parent)
    assert isinstance(workload, OpenLoop)
    counts: dict[str, int] = {}
    for _, request in workload.requests(seed=0):
        counts[request.circuit.name] = counts.get(request.circuit.name, 0) + 1
    assert counts["wpost-32g"] == 30 * 48
    assert counts["porep-32g"] == pytest.approx(1200, rel=0.1)
    assert set(workload.circuits) == {"porep-32g", "wpost-32g", "winning-32g"}


CIRCUIT = """
[circuits.mine]
constraints = 1000
srs = "1GiB"
pce = "1GiB"
working_set = "2GiB"
phase1 = "1GiB"
partitions = 4
"""


def test_a_closed_workload_has_circuits_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "workload.toml"
    path.write_text(f'kind = "closed"\n[[batches]]\ncircuit = "mine"\ncount = 3\nconcurrency = 2\n{CIRCUIT}')
    workload = workload_of(read_workload_table(path), tmp_path)
    assert isinstance(workload, ClosedLoop)
    (batch,) = workload.batches
    assert (batch.count, batch.concurrency, batch.partitions, batch.circuit.name) == (3, 2, 4, "mine")


def test_a_trace_is_read_from_csv_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "trace.csv").write_text("at_s,circuit\n5,mine\n1,mine\n2,porep-32g\n")
    path = tmp_path / "workload.toml"
    path.write_text(
        'kind = "open"\nduration = "1h"\n[[arrivals]]\ncircuit = "mine"\ntrace = "trace.csv"\n'
        f'[[arrivals]]\ncircuit = "porep-32g"\ntrace = "trace.csv"\n{CIRCUIT}'
    )
    workload = workload_of(read_workload_table(path), tmp_path)
    assert isinstance(workload, OpenLoop)
    found = [(at_s, request.circuit.name) for at_s, request in workload.requests(0)]
    assert found == [(1.0, "mine"), (2.0, "porep-32g"), (5.0, "mine")]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("at_s,circuit\n5,mine\n-1,mine\n", "line 3: found at_s '-1', expected seconds since the start"),
        ("at_s\nnan\n", "line 2: found at_s 'nan', expected seconds"),
        ("at_s\n1\ninf\n", "line 3: found at_s 'inf', expected seconds"),
        ("at_s\n\nsoon\n", "line 3: found at_s 'soon', expected seconds"),
        ("at_s,circuit\n5,mine\n6,mien\n", "line 3: found the circuit 'mien', which no [[arrivals]] take"),
        ("at_s,circuit\n5\n", "line 2: found 1 cells, expected 2"),
        ("at_s,circuit,deadline\n5,mine,60\n", "line 1: found the columns 'at_s', 'circuit', 'deadline'"),
        ("5\n6\n", "line 1: found the columns '5', expected a header"),
        ("", "line 1: found the columns of nothing"),
        ("at_s,circuit\n", "it has no proof of mine"),
    ],
)
def test_every_row_of_a_trace_counts_or_is_refused(tmp_path: Path, rows: str, message: str) -> None:
    (tmp_path / "trace.csv").write_text(rows)
    path = tmp_path / "workload.toml"
    path.write_text(
        f'kind = "open"\nduration = "1h"\n[[arrivals]]\ncircuit = "mine"\ntrace = "trace.csv"\n{CIRCUIT}'
    )
    with pytest.raises(SimError) as error:
        workload_of(read_workload_table(path), tmp_path)
    assert message in str(error.value)
    assert "trace.csv" in str(error.value)


def test_what_a_duration_cuts_off_a_trace_is_told() -> None:
    loop = OpenLoop((Arrivals(SIM_CIRCUIT, Trace((5.0, 10.0, 99.0))),), 10.0)
    (line,) = warnings([loop, loop], 5)
    assert line == (
        "2 of the 3 arrivals of circuit in its trace come after the duration of 10 s, and are left out"
    )


def test_how_many_arrive_is_known_without_going_through_all() -> None:
    year_s = 365 * DAY_S
    assert Poisson(0.01).about(1e6, START) == 10_000
    assert Periodic(10.0, 3.0).about(30.0, START) == 3
    assert Periodic(10.0, 300.0).about(30.0, START) == 0
    assert Trace((5.0, 1.0, 99.0)).about(10.0, START) == 2
    few, many = Cron("30 12 * * *", ZoneInfo("UTC")), Cron("* * * * *", ZoneInfo("UTC"))
    assert few.about(3 * DAY_S, START) == 3
    assert many.about(year_s, START) == 365 * 1440
    bursts, lasts = Cron("* * 1-2 1 *", ZoneInfo("UTC")), Cron("*/5 0-6 L * *", ZoneInfo("Europe/Berlin"))
    assert bursts.about(year_s, START) == 2 * 1440
    assert lasts.about(4 * year_s, START) == 4 * 12 * 7 * 12
    loop = OpenLoop((Arrivals(SIM_CIRCUIT, Periodic(10.0), count=2, partitions=3),), 1000.0)
    assert sizes_of(loop) == [Size("circuit", 200, 600)]


def test_what_would_never_end_is_refused_and_what_takes_long_is_told() -> None:
    absurd = OpenLoop((Arrivals(SIM_CIRCUIT, Periodic(0.001), partitions=10),), 30 * DAY_S)
    with pytest.raises(SimError, match="about 2,592,000,000 proofs of circuit in 25,920,000,000 partitions"):
        check_size(absurd)
    with pytest.raises(SimError, match="rarer arrivals"):
        play(Scenario(absurd, (host(),)), 0)
    batch = ClosedLoop((Batch(CIRCUIT_SHAPE, 1_000_000, 1, 100),))
    with pytest.raises(SimError, match="give it a smaller count"):
        check_size(batch)
    long = OpenLoop((Arrivals(SIM_CIRCUIT, Periodic(1.0)),), 30 * DAY_S)
    check_size(long)
    assert not is_kept(long)
    assert is_kept(OpenLoop(long.arrivals, DAY_S))
    assert warnings([long], 5) == [
        "about 2,592,000 partitions a run, 5 runs: may take some 43 min of processor time"
    ]
    assert warnings([OpenLoop(long.arrivals, 3600.0)], 5) == []


def test_a_run_that_is_recorded_takes_longer_and_that_is_told() -> None:
    month = OpenLoop((Arrivals(SIM_CIRCUIT, Periodic(30.0)),), 30 * DAY_S)
    assert warnings([month], 1) == []
    assert warnings([month], 1, 1) == [
        "about 86,400 partitions a run, 1 run: may take some 1 min of processor time"
    ]


def test_a_run_of_the_history_is_a_trace(tmp_path: Path) -> None:
    path = tmp_path / "workload.toml"
    path.write_text('kind = "open"\nduration = "1h"\n[[arrivals]]\ncircuit = "wpost-32g"\nrun = "0a"\n')
    table = read_workload_table(path)
    recorded = {("0a", "wpost-32g"): (3.0,)}
    workload = workload_of(table, tmp_path, find_run=lambda *asked: recorded[asked])
    assert isinstance(workload, OpenLoop)
    assert [at_s for at_s, _ in workload.requests(0)] == [3.0]
    with pytest.raises(SimError, match="run 0a: it has no proof of wpost-32g"):
        workload_of(table, tmp_path)


OPEN = 'kind = "open"\nduration = "1d"\n[[arrivals]]\ncircuit = "porep-32g"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (OPEN, "found none of poisson, every, cron"),
        (OPEN + 'poisson = "40/d"\nevery = "1h"', "found poisson and every of"),
        (OPEN + 'poisson = "40"', "arrivals.0.poisson: found '40', expected a rate"),
        (OPEN + "every = 60", "arrivals.0.every: found 60, expected a duration with its unit"),
        (OPEN + 'cron = "61 * * * *"', "arrivals.0.cron: found '61 * * * *'"),
        (OPEN + 'cron = "* * * * * *"', "found '* * * * * *', expected the 5 fields minute, hour, day"),
        (OPEN + 'cron = "@daily"', "found '@daily', expected the 5 fields"),
        (OPEN + 'cron = "* * * * *"\ntimezone = "Mars"', "expected a time zone"),
        (OPEN + 'every = "0s"', "arrivals.0.every: found 0s, expected a time that passes"),
        (OPEN + 'every = "1h"\ndeadline = "0s"', "arrivals.0.deadline: found 0s, expected a time that"),
        (OPEN.replace("1d", "0s") + 'every = "1h"', "duration: found 0s, expected a time that passes"),
        (OPEN + 'every = "1h"\ntimezone = "UTC"', "timezone changes nothing beside every, only beside cron"),
        (OPEN + 'cron = "* * * * *"\noffset = "5m"', "offset changes nothing beside cron, only beside every"),
        (OPEN + 'poisson = "1/d"\n[faults]\ndevice_loss = "0s"', "faults.device_loss: found 0s, expected a"),
        (OPEN + 'poisson = "1/d"\n[faults]\nprocess_death = "0s"', "leave it out for never"),
        (OPEN + 'poisson = "1/d"\n[faults]\nslow_disk = "0s"', "leave it out for never"),
        (
            OPEN + 'poisson = "1/d"\n[faults]\nslow_disk = "1d"\nslow_disk_for = "0s"',
            "slow_disk_for: found 0s, expected a time that passes",
        ),
        (
            'kind = "closed"\nstart = 2026-01-01\n[[batches]]\ncircuit = "x"\ncount = 1',
            'start changes nothing where kind is "closed"',
        ),
        (OPEN + 'poisson = "1/d"\ndeadlin = "1h"', "did you mean 'deadline'"),
        (OPEN + 'poisson = "1/d"\ncount = 0', "arrivals.0.count: found 0, expected 1 or more"),
        (OPEN + 'poisson = "1/d"\n[[batches]]\ncircuit = "x"\ncount = 1', "expected [[arrivals]] alone"),
        ('kind = "closed"\nduration = "1d"\n[[batches]]\ncircuit = "x"\ncount = 1', "has a duration"),
        ('kind = "open"\n[[arrivals]]\ncircuit = "x"\npoisson = "1/d"', "lacks a duration"),
        ('kind = "closed"', "there are no [[batches]]"),
        ('kind = "other"', "expected 'closed' or 'open'"),
        ("kind", "not TOML"),
    ],
)
def test_a_bad_workload_is_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "workload.toml"
    path.write_text(text)
    with pytest.raises(SimError) as error:
        read_workload_table(path)
    assert message in str(error.value)
    assert str(path) in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_an_unknown_circuit_is_told_the_nearest(tmp_path: Path) -> None:
    path = tmp_path / "workload.toml"
    path.write_text('kind = "closed"\n[[batches]]\ncircuit = "porep-23g"\ncount = 1')
    with pytest.raises(SimError, match="did you mean 'porep-32g'"):
        workload_of(read_workload_table(path), tmp_path)


@pytest.mark.parametrize(
    ("text", "same"),
    [("10Gb/s", "1.25GB/s"), ("300 gb/s", "37.5GB/s"), ("8Mib/s", "1MiB/s"), ("80b/s", "10B/s")],
)
def test_a_rate_in_bits_is_not_taken_for_bytes(text: str, same: str) -> None:
    with pytest.raises(
        ValueError, match=f"found '{text}', whose small b is for bits; .*: {same} is the same$"
    ):
        bandwidth(text)
    with pytest.raises(ValueError, match=r"found '10Gb', which is in bits; expected bytes: 1\.25GB$"):
        size("10Gb")


def test_quantities_need_their_units() -> None:
    assert size("1.5GiB") == 3 * 2**29
    assert bandwidth("7GB/s") == 7e9
    assert duration("1h30m") == 5400
    assert (share("1%"), share("0.5 %"), share("100%")) == (0.01, 0.005, 1.0)
    assert rate("40/d") == pytest.approx(40 / DAY_S)
    for read, wrong in (
        (size, "384"),
        (bandwidth, "7GB"),
        (bandwidth, "0B/s"),
        (duration, "30"),
        (rate, "0/d"),
        (share, "1"),
        (share, "0.01"),
        (share, "101%"),
    ):
        with pytest.raises(ValueError, match=f"found '{wrong}', expected"):
            read(wrong)
