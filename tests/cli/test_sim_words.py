"""How the simulator's answers are told."""

from __future__ import annotations

import pytest

from cli.sim.tables import bound_by, explained, limits_table, peak_memory, short_of_slots, two_digits
from flows.study.pictures import Pictured
from plots import Bar, PlottedRun
from sim.answers import Answers
from sim.intervals import Interval
from sim.summary import Summary
from sim.titles import machine_figures


@pytest.mark.parametrize(
    ("value", "words"), [(99.97, "100"), (99.4, "99"), (9.96, "10"), (4.26, "4.3"), (0.031, "0.031")]
)
def test_two_digits_are_no_power_of_ten(value: float, words: str) -> None:
    assert two_digits(value) == words


def test_what_binds_all_the_time_is_told_so() -> None:
    figures = {"binding_share[memory]": Interval(0.998, None, None, 1)}
    summary = Summary({}, "closed", 1, "completes", {"completes": 1}, False, None, figures, ())
    assert bound_by(summary) == "memory 100 %"


def test_one_wait_for_two_resources_is_told_once() -> None:
    """As on two hosts, of which one has cores to spare."""
    figures = {
        "binding_share[cores]": Interval(0.2, None, None, 1),
        "binding_share[synthesis slots]": Interval(0.3, None, None, 1),
        "binding_share[memory]": Interval(0.1, None, None, 1),
        "waited_s[synthesis slot]": Interval(60.0, None, None, 1),
        "waited_s[memory]": Interval(5.0, None, None, 1),
    }
    summary = Summary({}, "closed", 1, "completes", {"completes": 1}, False, None, figures, ())
    table = limits_table(summary)
    assert [str(cell) for cell in table.columns[2].cells] == ["60 s", "as above", "5 s"]


def test_which_memory_is_too_much_is_told_and_shown() -> None:
    gib = 2.0**30
    names = (
        "peak_reserved_bytes",
        "peak_resident_bytes",
        "reserved_too_much_bytes",
        "resident_too_much_bytes",
    )

    def summary(*values: float) -> Summary:
        figures = {name: value * gib for name, value in zip(names, values, strict=True)}
        means = {name: Interval(value, None, None, 1) for name, value in figures.items()}
        answers = Answers("closed", 0, None, any(values[2:]), figures)
        verdict = answers.verdict if any(values[2:]) else "completes"
        return Summary({}, "closed", 1, verdict, {verdict: 1}, any(values[2:]), None, means, (answers,))

    resident = summary(100, 270, 0, 14)
    assert peak_memory(resident) == "270GiB resident"
    (line,) = explained(resident)
    assert line.startswith(
        "up to 14GiB more memory is resident than the machine has; a larger memory.safety_"
    )
    both = summary(200, 270, 10, 14)
    assert peak_memory(both) == "200GiB"
    assert explained(both)[0].startswith("up to 10GiB more memory is reserved than the budget")
    assert explained(summary(100, 110, 0, 0)) == []


@pytest.mark.parametrize(
    ("missed", "share", "told"), [(2.0, 0.9, True), (0.0, 0.9, False), (2.0, 0.3, False)]
)
def test_a_circuit_that_is_late_for_want_of_a_slot_is_named(missed: float, share: float, told: bool) -> None:
    values = {"deadlines_missed[quick]": missed, "slot_wait_share[quick]": share}
    figures = {name: Interval(value, None, None, 1) for name, value in values.items()}
    lines = short_of_slots(Summary({}, "open", 1, "stable", {"stable": 1}, False, None, figures, ()))
    assert bool(lines) is told
    assert all(line.startswith("quick misses deadlines, and 90 % of its waits") for line in lines)
    assert all("more machine.synthesis_slots" in line for line in lines)


def test_of_several_hosts_the_one_that_is_shown_is_named() -> None:
    def summary(hosts: int) -> Summary:
        runs = tuple(f"run {number}" for number in range(hosts))
        answers = Answers("closed", 0, None, False, {}, runs, "left")
        figures = {"hosts": Interval(hosts, None, None, 1), "budget_bytes": Interval(2.0**30, None, None, 1)}
        return Summary({}, "closed", 1, "completes", {"completes": 1}, False, None, figures, (answers,))

    told = "pictures show that of 2 runs in which most was proved, of host left, start 3 alone, by the first"
    assert summary(2).pictured("left, start 3").startswith(told)
    assert summary(1).pictured("left") == "pictures show the run by the first seed"
    assert [*machine_figures(summary(2))] == [("of a budget, the largest, of", "budget_bytes")]
    assert [*machine_figures(summary(1))] == [("of a budget of", "budget_bytes")]


def test_that_there_is_no_picture_of_stages_is_told() -> None:
    bar = Bar("disk", "small", 0.0, 1.0)
    lacks = [Pictured(PlottedRun("a run", None, (), bars), "").lacks_stages for bars in ((), (bar,))]
    assert lacks == ["in that run no stage came to its end: there is no picture of stages", ""]
