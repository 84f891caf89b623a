"""How the simulator's answers are told."""

from __future__ import annotations

import pytest

from cli.sim.tables import bound_by, two_digits
from sim.intervals import Interval
from sim.summary import Summary


@pytest.mark.parametrize(
    ("value", "words"), [(99.97, "100"), (99.4, "99"), (9.96, "10"), (4.26, "4.3"), (0.031, "0.031")]
)
def test_two_digits_are_no_power_of_ten(value: float, words: str) -> None:
    assert two_digits(value) == words


def test_what_binds_all_the_time_is_told_so() -> None:
    figures = {"binding_share[memory]": Interval(0.998, None, None, 1)}
    summary = Summary({}, "closed", 1, "completes", {"completes": 1}, False, None, figures, ())
    assert bound_by(summary) == "memory 100 %"
