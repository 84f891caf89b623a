"""Plans: the least that does is found where it can be worked out by hand."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from sim import SimError
from sim.goals import Bounds, Goal, hopeless, read_goal, read_share, why_not
from sim.load import most_load, short_enough
from sim.plan import axis_of, plan
from sim.pool import Case, Pool
from sim.summary import summarize
from sim.sweep import keeps_up
from tests.sim.conftest import SEEDS
from tests.sim.question import HOST, closed, opened, question


def test_a_goal_that_only_the_error_decides_is_told_so(here: Pool) -> None:
    asked = question(closed())
    (summary,) = summarize([asked.scenario()], SEEDS, here)
    rate = summary.figures["proofs_an_hour"]
    near, far = (Goal("proofs_an_hour", False, rate.mean + more) for more in (0.01, 1e6))
    assert why_not(summary, Bounds((near,), 0.0)).endswith(", which is within the error")
    assert "error" not in why_not(summary, Bounds((far,), 0.0))
    met = Goal("proofs_an_hour", False, rate.mean - 0.01)
    found = plan(asked, axis_of("gpus"), [met, Goal("proofs_an_hour", False, 1.0)], SEEDS, here)
    assert [each.partition(":")[0] for each in found.barely] == [str(met)]


def test_the_least_memory_for_a_deadline_is_found(here: Pool) -> None:
    """Ten that arrive at once need the device for 4 s each, and memory to synthesize beside it."""
    asked = question(opened(3000.0, every=300.0, count=10, deadline=70.0), spread=0.0)
    found = plan(asked, axis_of("memory", "1GiB"), [], [0], here, {"memory.safety_margin": "0B"})
    assert found.least == "1GiB"  # the smallest that is tried is plenty
    workload = opened(3000.0, every=300.0, count=10, deadline=70.0)
    tight = question(workload, spread=0.0, synthesize={"seconds": 20.0})
    axis = axis_of("memory", "1GiB")
    small = type(axis)("memory", "machine.budget", tuple(f"{110 + 10 * n}KiB" for n in range(20)))
    found = plan(tight, small, [], [0], here)
    assert found.least is not None
    least_kib = int(found.least.removesuffix("KiB"))
    assert found.below == f"{least_kib - 10}KiB"
    assert "deadlines of small missed" in found.why_not
    # One fewer does not do, in truth; and every larger one does.
    for kib, does in ((least_kib - 10, False), (least_kib, True), (least_kib + 10, True), (300, True)):
        (summary,) = summarize([tight.scenario({"machine.budget": f"{kib}KiB"})], [0], here)
        assert keeps_up(summary) is does
    assert found.binding is not None


def test_memory_below_the_margin_does_not_do(here: Pool) -> None:
    found = plan(question(closed()), axis_of("memory", "2GiB"), [], [0], here)
    assert (found.least, found.below) == ("6GiB", "4GiB")  # the margin is 5 GiB
    assert "no more than memory.safety_margin" in found.why_not


def test_the_least_gpus_for_a_rate_are_found_and_the_next_step_is_named(here: Pool) -> None:
    """Each GPU makes 900 proofs an hour."""
    fast = {"synthesize": {"seconds": 0.01}, "load": {"bytes_per_s": 1e9}}
    asked = question(closed(count=200, concurrency=40), None, **fast)
    room = {"memory.total_budget": "2000KiB", "machine.synthesis_slots": "64"}
    found = plan(asked, axis_of("gpus"), [Goal("proofs_an_hour", False, 2_000.0)], SEEDS, here, room)
    assert (found.least, found.below) == ("3", "2")
    assert "proofs_an_hour >= 2,000 does not hold: 1,7" in found.why_not
    assert found.binding is not None
    assert found.binding[0] == "devices"
    (step,) = found.next_steps
    assert step.settings == {"machine.gpus": "4"}
    assert step.gain.mean == pytest.approx(1 / 3, rel=0.15)
    assert step.sure
    assert step.more_cost == 50.0


def test_one_step_more_of_several_hosts_names_each(here: Pool) -> None:
    """Of unlike ones each has more than it had itself; and a host without GPUs gets none."""
    hosts = [HOST, HOST | {"name": "spare", "cores": 40, "count": 3}, HOST | {"name": "cpus", "gpus": 0}]
    asked = question(closed(), hosts, prove_on_cpu={"seconds": 4.0})
    found = plan(asked, axis_of("hosts"), [], [0], here)
    settings = {key: value for step in found.steps for key, value in step.settings.items()}
    assert {key: settings[key] for key in settings if key.endswith((".hosts", "_slots", ".gpus"))} == {
        "machine.box.hosts": "2", "machine.spare.hosts": "2", "machine.cpus.hosts": "2",
        "machine.box.synthesis_slots": "11", "machine.spare.synthesis_slots": "51",
        "machine.cpus.synthesis_slots": "11",
        "machine.box.gpus": "2", "machine.spare.gpus": "2",
    }  # fmt: skip


def test_a_step_with_which_the_machine_does_not_do_is_no_next_step(here: Pool) -> None:
    """With more GPUs it is quicker, and takes more memory than the goal lets it."""
    fast = {"synthesize": {"seconds": 0.01}, "load": {"bytes_per_s": 1e9}}
    asked = question(closed(count=200, concurrency=40), None, **fast)
    room = {"memory.total_budget": "2000KiB", "machine.synthesis_slots": "64"}
    rate = Goal("proofs_an_hour", False, 1_000.0)
    free = plan(asked, axis_of("gpus"), [rate], SEEDS, here, room)
    assert free.found is not None
    tight = Goal("device_use_share", False, free.found.mean("device_use_share") - 0.001)
    bound = plan(asked, axis_of("gpus"), [rate, tight], SEEDS, here, room)
    (step,) = [each for each in bound.steps if "machine.gpus" in each.settings]
    assert step.sure
    assert step.settings == free.next_steps[0].settings
    assert "device_use_share" in step.why_not
    assert step not in bound.next_steps


def test_the_most_load_is_found(here: Pool) -> None:
    """One device serves at most one proof in 4 s, and the workload has one in 40 s."""
    asked = question(opened(6_000.0, poisson=1 / 40))
    found = plan(asked, axis_of("load"), [], [0], here)
    assert found.least is not None
    assert 7.0 < float(found.least) < 12.0
    assert found.why_not == "overloaded"


def test_a_long_workload_is_shortened_where_the_most_load_is_looked_for(here: Pool) -> None:
    asked = question(opened(4 * 86_400.0, poisson=1 / 40))
    room = {"machine.memory": "6GiB"}
    assert 7.0 < most_load(asked, room, 0, here) < 12.0
    assert short_enough(asked, room, most=10.0) == "1d"
    assert short_enough(asked, room, most=4.0) == "3d"
    assert short_enough(asked, room, most=0.5) is None


def test_a_run_is_given_up_once_too_many_deadlines_are_missed(here: Pool) -> None:
    scenario = question(opened(3000.0, every=300.0, deadline=1.0)).scenario()
    for share, ended in ((1.0, 10), (0.45, 5), (0.0, 1)):
        (answers,) = here.play([Case(replace(scenario, most_late_share=share), 0)])
        assert answers.figures["proofs"] == ended
        assert hopeless([answers], 1, share) is (share < 1)
    in_time = question(opened(3000.0, every=300.0, deadline=100.0)).scenario()
    (answers,) = here.play([Case(in_time, 0)])
    assert not hopeless([answers], 3, 0.0)


def test_where_nothing_does_the_plan_says_why(here: Pool) -> None:
    asked = question(opened(3000.0, every=300.0, deadline=1.0))
    found = plan(asked, axis_of("gpus"), [], [0], here)
    assert found.least is None
    assert found.why_not == "100 % of the deadlines of small missed"
    allowed = plan(asked, axis_of("gpus"), [], [0], here, late_share=1.0)
    assert allowed.least == "1"


def test_gpus_that_do_are_found_though_the_most_do_not(here: Pool) -> None:
    found = plan(question(closed()), axis_of("gpus"), [Goal("device_use_share", False, 0.5)], [0], here)
    assert found.least == "1"


@pytest.mark.parametrize(
    ("figure", "guess"),
    [("latency_p99_s[smal]", "latency_p99_s[small]"), ("latncy_p99_s[small]", "latency_p99_s[small]")],
)
def test_a_goal_for_no_figure_is_refused(here: Pool, figure: str, guess: str) -> None:
    with pytest.raises(
        SimError, match=rf"no figure '{re.escape(figure)}'; did you mean '{re.escape(guess)}'"
    ):
        plan(question(closed()), axis_of("gpus"), [Goal(figure, True, 1.0)], [0], here)


def test_goals_have_units() -> None:
    assert read_goal("latency_p99_s[porep-32g]<=2h") == Goal("latency_p99_s[porep-32g]", True, 7200.0)
    assert read_goal("peak_reserved_bytes <= 1GiB") == Goal("peak_reserved_bytes", True, 2.0**30)
    assert read_goal("device_use_share>=50%") == Goal("device_use_share", False, 0.5)
    assert read_goal("proofs_an_hour>=2.5") == Goal("proofs_an_hour", False, 2.5)
    assert (read_share("1%"), read_share("0.5%"), read_share("0%")) == (0.01, 0.005, 0.0)
    for text in (
        "fast", "makespan_s<=soon", "x>=y", "makespan_s<=180", "peak_reserved_bytes<=5",
        "device_use_share>=1", "device_use_share>=0.5", "proofs_an_hour>=2%",
    ):  # fmt: skip
        with pytest.raises(SimError, match="--goal"):
            read_goal(text)
    for text in ("often", "-1%", "200%", "1", "0.01", "nan%"):
        with pytest.raises(SimError, match="--late"):
            read_share(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense<=1s", "there is no figure 'nonsense'; expected one of latency_p50_s, "),
        ("latncy_p99_s[small]<=1s", "there is no figure 'latncy_p99_s'; did you mean 'latency_p99_s'?"),
        ("latency_p99_s<=1s", "found 'latency_p99_s', expected latency_p99_s[NAME], of one circuit"),
        ("makespan_s[small]<=1s", "found 'makespan_s[small]', expected makespan_s, which is of all"),
    ],
)
def test_a_goal_for_no_kind_of_figure_is_refused_before_anything_is_played(text: str, message: str) -> None:
    with pytest.raises(SimError) as error:
        read_goal(text)
    assert str(error.value).startswith(f"--goal {text!r}: {message}")


def test_every_figure_may_have_a_goal(here: Pool) -> None:
    asked = (question(closed()), question(opened(600.0, poisson=0.1, deadline=1.0)))
    for answers in here.play([Case(each.scenario(), 0) for each in asked]):
        for name in answers.figures:
            kind = name.partition("[")[0]
            value = "1s" if kind.endswith("_s") else "1GiB" if kind.endswith("_bytes") else "1"
            assert read_goal(f"{name}>={'1%' if kind.endswith('_share') else value}").figure == name


@pytest.mark.parametrize(
    ("find", "workload", "hosts", "message"),
    [
        ("load", closed(), None, r"a closed workload .* describe an open one"),
        ("load", opened(60.0, cron="* * * * *"), None, "no arrivals have a rate"),
        ("memory", closed(), [], r"has no \[\[hosts\]\]"),
    ],
)
def test_what_a_question_has_nothing_of_is_not_looked_for(
    here: Pool, find: str, workload: dict[str, Any], hosts: list[dict[str, Any]] | None, message: str
) -> None:
    with pytest.raises(SimError, match=message):
        plan(question(workload, hosts), axis_of(find), [], [0], here)
