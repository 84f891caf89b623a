"""`cuzk sim sweep`: every combination of what is varied, and which of them is worth its cost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.options import OUTPUT_FILE, say, with_options
from cli.sim.options import check_files, json_and_csv, late_option, question_options
from groth16.output import replacing

if TYPE_CHECKING:
    from flows.study.questions import QuestionParameters
    from flows.study.studies import Study, Swept

SWEEP_OPTIONS = (
    click.option(
        "--vary",
        multiple=True,
        required=True,
        metavar="KEY=VALUES",
        help="A list, as machine.memory=256GiB,384GiB, or a range, as machine.gpus=1..4; may be repeated.",
    ),
    late_option,
    *json_and_csv,
    click.option("--png", type=OUTPUT_FILE, metavar="FILE", help="Draw all points and the Pareto front."),
    click.option(
        "--write-config", type=OUTPUT_FILE, metavar="FILE", help="Write the winner's settings as a cuzk.toml."
    ),
)


@click.command(short_help="Simulate every combination of some settings, and find what is worth its cost.")
@question_options
@(lambda command: with_options(command, SWEEP_OPTIONS))
def sweep(
    parameters: QuestionParameters,
    vary: tuple[str, ...],
    late: str,
    as_json: bool,
    csv_file: Path | None,
    png: Path | None,
    write_config: Path | None,
) -> None:
    """Simulate every combination of what is varied: settings, parts of the machine, workload, faults.

    A point is on the Pareto front (*) if it surely gives more than all that cost no more: proofs an hour of
    a closed loop, less latency of an open one. The winner (>) is the cheapest of those that give the most, to
    within the error, which others (=) give for more. What is overloaded, fails, misses deadlines or takes too
    much memory is none of these. Costs are by the machine's [prices].
    """
    check_files(parameters, csv_file, png, write_config)
    say(f"preparing to simulate {parameters.title}")
    from flows.study.studies import study

    with study(parameters, say, recorded=0) as asked:
        swept = asked.sweep(vary, late)
        if as_json:
            print(json.dumps(_values(swept)))
        else:
            _print(swept)
        if csv_file is not None:
            from cli.sim.tables import write_csv

            write_csv(swept.points, csv_file)
        if png is not None:
            from flows.study.pictures import pareto_png

            _write(png, pareto_png(parameters.title, swept))
        if write_config is not None:
            _write(write_config, _config_of(asked, swept).encode())


def _values(swept: Swept) -> dict[str, object]:
    places = {id(each): place for place, each in enumerate(swept.points)}
    return {
        "points": [each.values() for each in swept.points],
        "refused": [{"settings": dict(settings), "why": why} for settings, why in swept.refused],
        "pareto_front": [places[id(each)] for each in swept.front],
        "winner": None if swept.winner is None else places[id(swept.winner)],
        "as_good_as_the_winner": [places[id(each)] for each in swept.best[1:]],
    }


def _print(swept: Swept) -> None:
    from cli.sim.tables import lacking, points_table
    from cli.table import print_parts
    from flows.study.studies import MARKS

    marks = [swept.mark(each) for each in swept.points]
    lines = [f"{mark}  {meaning}" for mark, meaning in MARKS.items() if any(mark in each for each in marks)]
    lines += [
        f"{' '.join(f'{k}={v}' for k, v in settings.items())}: {why}" for settings, why in swept.refused
    ]
    if swept.winner is None:
        lines += [swept.none_does, *lacking(swept.points)]
    print_parts(points_table(swept.points, marks), *lines)


def _config_of(asked: Study, swept: Swept) -> str:
    from sim.errors import SimError
    from sim.winning_config import config_text

    if swept.winner is None:
        raise SimError(f"{swept.none_does}, so there are no settings to write; vary more")
    return config_text(asked.question, asked.given | dict(swept.winner.settings))


def _write(path: Path, content: bytes) -> None:
    with replacing(path) as file:
        file.write(content)
