"""When a machine counts as overloaded, and how sure a figure is."""

from __future__ import annotations

from math import inf
from random import Random
from statistics import fmean

import pytest

from sim.arrivals import Trace
from sim.intervals import Interval, interval_of, percentile, range_of
from sim.scenario import play
from sim.verdict import WINDOWS, Backlog, kendall_tau, load_of
from sim.words import legible, signed, worded
from tests.sim.cluster import host, opened

GROWS = [float(number) for number in range(WINDOWS)]
GIB = 2**30
FLAT = [5.0, 6.0] * (WINDOWS // 2)


def test_the_backlog_is_the_mean_of_each_window() -> None:
    backlog = Backlog(100.0)
    backlog.change(0.0, 2)
    backlog.change(15.0, 2)
    backlog.change(30.0, -4)
    backlog.change(250.0, 0)
    assert backlog.means == pytest.approx([2, 3, 4] + [0] * 7)


def test_windows_whose_length_rounds_end_where_they_should() -> None:
    backlog = Backlog(0.7)
    backlog.change(0.0, 1)
    backlog.change(5.0, -1)
    assert backlog.means == pytest.approx([1.0] * WINDOWS)


def test_kendall_tau_is_one_for_growth_and_about_zero_for_noise() -> None:
    assert kendall_tau(GROWS) == 1.0
    assert kendall_tau(GROWS[::-1]) == -1.0
    assert abs(kendall_tau(FLAT)) < 0.3
    assert kendall_tau([1.0]) == 0.0


def test_overloaded_is_what_grows_and_leaves_much_behind() -> None:
    assert load_of(GROWS, 20.0, 100.0, 1.0, 1.0) == "overloaded"
    assert load_of(GROWS, 6.0, 100.0, 1.0, 1.0) == "backlogged"  # little is left
    assert load_of(FLAT, inf, 100.0, 1.0, 1.0) == "overloaded"  # what was left was given up
    assert load_of(FLAT, 20.0, 100.0, 1.0, 0.6) == "backlogged"  # it does not grow
    assert load_of(FLAT, 1.0, 100.0, 1.0, 0.1) == "stable"
    assert load_of(GROWS, 20.0, 100.0, 10.0, 0.1) == "stable"  # one proof alone takes so long


def test_the_interval_holds_the_mean_as_often_as_it_says() -> None:
    random, held = Random(0), 0
    for _ in range(2_000):
        found = interval_of([random.gauss(10.0, 3.0) for _ in range(5)])
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 10.0 <= found.high
    assert held / 2_000 == pytest.approx(0.95, abs=0.015)


def test_of_one_value_nothing_is_known_of_its_error() -> None:
    assert interval_of([3.0]).half is None
    assert interval_of([3.0, 3.0]).half == 0.0
    with pytest.raises(ValueError, match="at least one"):
        interval_of([])


def test_no_interval_leaves_the_range_of_its_figure() -> None:
    rare = interval_of([0.0, 0.0, 0.02], *range_of("deadlines_missed_share[x]"))
    assert (rare.low, rare.even) == (0.0, False)
    assert rare.half == pytest.approx((rare.high or 0) - rare.mean)
    often = interval_of([1.0, 1.0, 0.98], *range_of("device_use_share"))
    assert (often.high, often.even) == (1.0, False)
    assert often.half == pytest.approx(often.mean - (often.low or 0))
    assert interval_of([0.0, 9.0], *range_of("latency_p99_s[x]")).low == 0.0
    assert interval_of([-1.0, 1.0]).low == pytest.approx(-12.706)  # as a difference


@pytest.mark.parametrize(
    ("name", "interval", "words"),
    [
        ("latency_p90_s[x]", Interval(162.0, 161.083, 162.917, 5), "162 ± 0.92 s"),
        ("makespan_s", Interval(2_592_000.0, 2_591_393.0, 2_592_607.0, 5), "30 ± 0.007 d"),
        ("deadlines_missed_share[x]", Interval(0.00248, 0.0, 0.0094, 5), "0.248 (0 to 0.94) %"),
        ("device_use_share", Interval(0.0168, 0.0160, 0.0176, 5), "1.68 ± 0.08 %"),
        (
            "peak_resident_bytes",
            Interval(208.68 * 2**30, 208.68 * 2**30 - 32, 208.68 * 2**30 + 32, 5),
            "208.68GiB",
        ),
        (
            "peak_resident_bytes",
            Interval(354.21 * 2**30, 353.3 * 2**30, 355.12 * 2**30, 5),
            "354.21 ± 0.91GiB",
        ),
        ("binding_share[x]", Interval(0.999, 0.996, 1.0, 2), "99.9 (99.6 to 100) %"),
        ("binding_share[x]", Interval(0.99999, 0.99995, 1.0, 2), "100 %"),
        ("binding_share[x]", Interval(0.5, 0.5 - 1e-9, 0.5 + 1e-9, 2), "50 %"),
        ("waited_s[x]", Interval(9e7, 0.0, 1.9e8, 2), "1,042 (0 to 2,199) d"),
        ("proofs", Interval(2769.0, 2702.6, 2835.4, 5), "2,769 ± 66"),
        ("proofs_an_hour", Interval(3.85, None, None, 1), "3.85"),
        ("budget_bytes", Interval(0.0, None, None, 1), "0B"),
    ],
)
def test_figures_are_told_in_units_that_read_well(name: str, interval: Interval, words: str) -> None:
    assert worded(name, interval) == words


@pytest.mark.parametrize(
    ("name", "mean", "words"),
    [
        ("binding_share[memory]", 8.09e-16, "< 0.01 %"),
        ("binding_share[memory]", 0.000101, "0.0101 %"),
        ("binding_share[memory]", 0.0, "0 %"),
        ("waited_s[load]", 2.1e-9, "< 0.001 s"),
        ("waited_s[load]", 0.0021, "0.0021 s"),
        ("proofs", 1e-9, "1e-09"),
    ],
)
def test_what_is_too_little_to_read_is_told_as_less_than_what_can_be(
    name: str, mean: float, words: str
) -> None:
    assert legible(name, Interval(mean, None, None, 1)) == words


def test_differences_have_their_sign() -> None:
    assert signed("latency_p90_s[x]", Interval(-109.0, -109.9, -108.1, 5)) == "−109 ± 0.9 s"
    assert signed("device_use_share", Interval(0.01, 0.0, 0.02, 5)) == "+1 ± 1 points"
    assert signed("peak_reserved_bytes", Interval(2.0**30, None, None, 1)) == "+1GiB"


def test_many_values_use_the_normal_distribution() -> None:
    values = [float(number % 2) for number in range(100)]
    found = interval_of(values)
    assert found.mean == fmean(values)
    assert found.half == pytest.approx(1.96 * 0.5025 / 10, rel=0.01)


def test_percentiles_are_values_that_were_there() -> None:
    ordered = [float(number) for number in range(1, 101)]
    assert [percentile(ordered, share) for share in (0.5, 0.9, 0.99, 1.0)] == [50, 90, 99, 100]
    assert percentile([7.0], 0.5) == 7.0


def test_shares_are_of_all_the_time_in_which_proofs_may_arrive() -> None:
    """Three proofs in a hurry and then a day of nothing: it is idle, not backlogged."""
    day_s = 86_400.0
    answers = play(opened(Trace((0.0, 1.0, 2.0)), day_s, host(room_for=1)), seed=0).answers
    figures = answers.figures
    assert answers.verdict == "stable"
    assert figures["makespan_s"] < 60
    assert figures["unbegun_share"] < 0.001
    assert figures["binding_share[nothing]"] > 0.999
    shares = [share for name, share in figures.items() if name.startswith("binding_share")]
    assert sum(shares) == pytest.approx(1)
    assert figures["device_use_share"] == pytest.approx(3 * 4.0 / day_s, rel=0.01)


@pytest.mark.parametrize(("slots", "share"), [(1, 1.0), (8, 0.0)])
def test_the_share_of_waits_for_a_slot_is_told_by_circuit(slots: int, share: float) -> None:
    """Three at once: with one slot they wait for each other's synthesis, once the circuit is loaded."""
    machine = host(slots=slots, load={"bytes_per_s": 1e12})
    figures = play(opened(Trace((0.0, 0.0, 0.0)), 60.0, machine), seed=0).answers.figures
    assert figures.get("slot_wait_share[circuit]", 0.0) == pytest.approx(share, abs=0.01)
