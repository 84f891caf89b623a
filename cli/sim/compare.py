"""`cuzk sim compare`: ways side by side, on the same seeds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.options import OUTPUT_FILE, say, with_options
from cli.sim.options import check_files, json_and_csv, question_options, varied
from groth16.output import replacing

if TYPE_CHECKING:
    from flows.study.questions import QuestionParameters
    from sim.summary import Summary

COMPARE_OPTIONS = (
    click.option(
        "--with",
        "others",
        multiple=True,
        metavar="SETTINGS",
        help='Another way, as "machine.memory=384GiB machine.gpus=2"; may be repeated. '
        "Without: fixed numbers of partitions at once.",
    ),
    *json_and_csv,
    click.option("--png", type=OUTPUT_FILE, metavar="FILE", help="Draw them side by side."),
)


@click.command(short_help="Simulate several ways on the same seeds, and tell how sure their difference is.")
@question_options
@(lambda command: with_options(command, COMPARE_OPTIONS))
def compare(
    parameters: QuestionParameters,
    others: tuple[str, ...],
    as_json: bool,
    csv_file: Path | None,
    png: Path | None,
) -> None:
    """Simulate the question as it is, and then other ways.

    Without --with, the standard comparison: the budget against fixed numbers of partitions at once, as
    provers without a budget have them. A difference is taken seed by seed, so it is known better than
    either side; "sure" if its interval of 95 % leaves out nought.
    """
    check_files(parameters, csv_file, png)
    say(f"preparing to simulate {parameters.title}")
    from flows.study.studies import study

    changes = [varied(text, "--with") for text in others]
    with study(parameters, say, recorded=0) as asked:
        summaries = asked.compare(changes)
    if as_json:
        print(json.dumps(_values(summaries)))
    else:
        _print(summaries, in_detail=bool(changes))
    if csv_file is not None:
        from cli.sim.tables import write_csv

        write_csv(summaries, csv_file)
    if png is not None:
        from flows.study.pictures import compared_png

        picture = compared_png(parameters.title, summaries)
        with replacing(png) as file:
            file.write(picture)


def _values(summaries: list[Summary]) -> dict[str, object]:
    from sim.compare import differences

    first = summaries[0]
    return {
        "cases": [each.values() for each in summaries],
        "differences": [
            {
                each.name: {"mean": each.more.mean, "low": each.more.low, "high": each.more.high}
                for each in differences(first, other)
            }
            for other in summaries[1:]
        ],
    }


def _print(summaries: list[Summary], in_detail: bool) -> None:
    from cli.sim.tables import SHOWN, differences_table, points_table, short_of_slots, varying
    from cli.table import print_parts
    from sim.compare import differences

    print_parts(points_table(summaries))
    for line in dict.fromkeys(line for each in summaries for line in short_of_slots(each)):
        say(line)
    for other in summaries[1:] if in_detail else ():
        found = [each for each in differences(summaries[0], other) if each.name.startswith(SHOWN)]
        changed = varying([summaries[0], other])
        what = " ".join(f"{key}={other.settings[key]}" for key in changed if key in other.settings)
        differing = [each for each in found if each.there_is_one]
        shown = differences_table(differing) if differing else "none of the figures that are shown"
        print_parts("", f"what {what} changes", shown)
