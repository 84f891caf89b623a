"""When a machine counts as overloaded, and how sure a figure is."""

from __future__ import annotations

from random import Random
from statistics import fmean

import pytest

from sim.intervals import interval_of, percentile
from sim.verdict import WINDOWS, Backlog, kendall_tau, verdict_of

GROWS = [float(number) for number in range(WINDOWS)]
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
    assert verdict_of(GROWS, 20.0, 100.0, 1.0, 1.0) == "overloaded"
    assert verdict_of(GROWS, 6.0, 100.0, 1.0, 1.0) == "backlogged"  # little is left
    assert verdict_of(FLAT, 20.0, 100.0, 1.0, 0.6) == "backlogged"  # it does not grow
    assert verdict_of(FLAT, 1.0, 100.0, 1.0, 0.1) == "stable"
    assert verdict_of(GROWS, 20.0, 100.0, 10.0, 0.1) == "stable"  # one proof alone takes so long


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


def test_many_values_use_the_normal_distribution() -> None:
    values = [float(number % 2) for number in range(100)]
    found = interval_of(values)
    assert found.mean == fmean(values)
    assert found.half == pytest.approx(1.96 * 0.5025 / 10, rel=0.01)


def test_percentiles_are_values_that_were_there() -> None:
    ordered = [float(number) for number in range(1, 101)]
    assert [percentile(ordered, share) for share in (0.5, 0.9, 0.99, 1.0)] == [50, 90, 99, 100]
    assert percentile([7.0], 0.5) == 7.0
