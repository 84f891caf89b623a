"""`cuzk sim plan`: the least that does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from cli.options import json_option, say, with_options
from cli.sim.options import late_option, question_options

if TYPE_CHECKING:
    from flows.study.questions import QuestionParameters
    from sim.plan import Plan

SOUGHT = {"memory": "memory", "gpus": "number of GPUs", "hosts": "number of hosts", "load": "load"}
PLAN_OPTIONS = (
    click.option(
        "--find",
        type=click.Choice(["memory", "gpus", "hosts", "load"]),
        required=True,
        help="The least memory, GPUs or hosts; or the most load, as a multiple of the workload's.",
    ),
    click.option(
        "--goal",
        "goals",
        multiple=True,
        metavar="BOUND",
        help='Besides: such as "latency_p99_s[porep-32g]<=2h" or "proofs_an_hour>=10"; may be repeated.',
    ),
    late_option,
    click.option("--step", default="32GiB", show_default=True, metavar="SIZE", help="Of memory."),
    json_option,
)


@click.command(short_help="Find the least memory, GPUs or hosts that do, or the most load.")
@question_options
@(lambda command: with_options(command, PLAN_OPTIONS))
def plan(
    parameters: QuestionParameters, find: str, goals: tuple[str, ...], late: str, step: str, as_json: bool
) -> None:
    """Find the least that keeps up: not overloaded, deadlines met but for --late, and every --goal.

    Then the resource that bound it most, why the next less does not do, and what one more of each part of
    the machine would gain: proofs an hour of a closed loop, less latency of an open one.
    """
    say(f"preparing to simulate {parameters.title}")
    from flows.study.studies import study

    with study(parameters, say, recorded=0) as asked:
        found = asked.plan(find, goals, late, step)
    if as_json:
        print(json.dumps(_values(found)))
    else:
        _print(found)
    if found.least is None:
        raise SystemExit(1)


def _values(found: Plan) -> dict[str, object]:
    return {
        "find": found.axis.name,
        "setting": found.axis.key,
        "value": found.least,
        "next": found.below,
        "why_not_next": found.why_not,
        "binding": None if found.binding is None else found.binding[0],
        "at_value": None if found.found is None else found.found.values(),
        "duration": found.shortened,
        "within_the_error": list(found.barely),
        "next_steps": [dict(each.settings) for each in found.next_steps],
        "steps": [
            {
                "settings": dict(each.settings),
                "gain": {"mean": each.gain.mean, "low": each.gain.low, "high": each.gain.high},
                "sure": each.sure,
                "cost": each.summary.cost,
                "verdict": each.summary.told,
                "why_not": each.why_not,
            }
            for each in found.steps
        ],
    }


def _print(found: Plan) -> None:
    from cli.sim.tables import circuits_table, figures_table
    from cli.table import print_parts

    print_parts(*_sentences(found))
    if found.found is not None:
        print()
        print_parts(figures_table(found.found), circuits_table(found.found))
    if found.steps:
        print()
        print_parts(_steps_table(found))


def _sentences(found: Plan) -> list[str]:
    from sim.words import worded

    what, sought = "most" if not found.axis.rising else "least", SOUGHT[found.axis.name]
    if found.shortened is not None:
        say(
            f"each run is of {found.shortened}, in which enough arrives at the most load; "
            "--set workload.duration=… simulates as much as you say"
        )
    if found.least is None:
        return [f"no {sought} does: {found.axis.key}={found.below}: {found.why_not}"]
    lines = [f"the {what} {sought} that does: {found.axis.key}={found.least}"]
    if found.found is not None:
        lines.append(f"with it: {found.found.headline}")
    lines += [f"met to within the error alone: {each}" for each in found.barely]
    if found.below is not None:
        lines.append(f"{found.axis.key}={found.below} does not: {found.why_not}")
    if found.binding is not None:
        name, share = found.binding
        lines.append(f"bound by {name} for {worded('binding_share', share)} of the time")
    return [*lines, *_next_step(found)]


def _next_step(found: Plan) -> list[str]:
    from sim.words import percent

    if not found.steps:
        return []
    if not found.next_steps:
        return ["no single step would surely make it better, beyond the error"]
    best, *others = [
        f"{' '.join(f'{key}={value}' for key, value in each.settings.items())}, {percent(each.gain)}"
        for each in found.next_steps
    ]
    by = "by what it gains" if found.next_steps[0].more_cost is None else "for what it costs"
    lines = [f"the next better step, {by}: {best}"]
    return lines + [f"or, as good to within the error: {each}" for each in others]


def _steps_table(found: Plan) -> object:
    from cli.sim.tables import bound_by
    from cli.table import table
    from sim.words import ABSENT, number, percent

    assert found.found is not None, "steps are taken from what was found"
    right = ("gain", "cost more")
    made = table("one step more", *right, "", "then bound by", right=right)
    for each in found.steps:
        change = " ".join(f"{key}={value}" for key, value in each.settings.items())
        more = ABSENT if each.more_cost is None else number(each.more_cost)
        sure = "sure" if each.sure else "within the error"
        what = f"does not do: {each.why_not}" if each.why_not else sure
        made.add_row(change, percent(each.gain), more, what, bound_by(each.summary))
    return made
