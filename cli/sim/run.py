"""`cuzk sim run`: a workload on a modelled machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.options import OUTPUT_FILE, program, say, with_options
from cli.sim.options import check_files, json_and_csv, question_options
from groth16.output import check_folder, make_folder, replacing

if TYPE_CHECKING:
    from db import History
    from flows.study.questions import QuestionParameters
    from flows.study.studies import Study
    from sim.summary import Summary

MOST_NAMED = 3
PICTURES = ("memory.png", "gantt.png")
PICTURE_OPTIONS = (
    *json_and_csv,
    click.option(
        "--pictures",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="FOLDER",
        help=f"Draw {' and '.join(PICTURES)} there, of the first seed.",
    ),
    click.option("--html", type=OUTPUT_FILE, metavar="FILE", help="Write a page with tables and pictures."),
    click.option("--trace", type=OUTPUT_FILE, metavar="FILE", help="Write a Chrome trace, for Perfetto."),
)


def _with_pictures(command: click.decorators.FC) -> click.decorators.FC:
    return with_options(command, PICTURE_OPTIONS)  # type: ignore[return-value,arg-type]


@click.command(short_help="Simulate a workload or a batch on a modelled machine.")
@question_options
@_with_pictures
def run(
    parameters: QuestionParameters,
    as_json: bool,
    csv_file: Path | None,
    pictures: Path | None,
    html: Path | None,
    trace: Path | None,
) -> None:
    """Simulate a workload, or the batch that `cuzk bench batch` with the same options would prove.

    Stage times of a circuit that has a key here are those of its runs in the history, or rough ones by
    its size; of others the machine's profile has them. Every figure is the mean of several seeds, with
    its interval of 95 % after ±. The first seed's run is kept in the history beside the real ones. The
    policy "fixed:N" runs N partitions at a time, whatever they take, as provers without a budget do.
    """
    if pictures is not None:
        check_folder(pictures)
    check_files(parameters, csv_file, html, trace, *_in(pictures))
    say(f"preparing to simulate {parameters.title}")
    from flows.study.studies import study

    with study(parameters, say) as asked:
        if pictures or html or trace:
            asked.check_pictures()
        summary = asked.run()
        if as_json:
            print(json.dumps(summary.values()))
        else:
            _print(asked, summary)
        if csv_file is not None:
            from cli.sim.tables import write_csv

            write_csv([summary], csv_file)
        if pictures or html or trace:
            _draw(asked.history, summary, pictures, html, trace)


def _in(folder: Path | None) -> list[Path]:
    """The pictures, where the folder is there already; else there is nothing in it to lose."""
    return [folder / name for name in PICTURES] if folder is not None and folder.is_dir() else []


def _print(asked: Study, summary: Summary) -> None:
    from cli.sim.tables import circuits_table, explained, figures_table, limits_table
    from cli.table import print_parts, print_run
    from db import show_run
    from engine.words import telling

    run_ids = summary.by_seed[0].run_ids
    headline = f"{asked.question.loop} loop: {summary.headline}"
    print_parts(headline, *explained(summary))
    if asked.question.loop == "closed" and len(run_ids) == 1:
        with telling(say, lambda: "making the table"):
            print()
            print_run(show_run(asked.history, run_ids[0]))
    parts = [figures_table(summary), circuits_table(summary), limits_table(summary)]
    print()
    print_parts(*[part for part in parts if part.row_count])
    for run_id in run_ids[:MOST_NAMED]:
        print(f"history  {asked.history.address}; this run: {program()} history show {run_id}")
    if (more := len(run_ids) - MOST_NAMED) > 0:
        print(f"and {more} more, one for each host and each start of its process: {program()} history list")


def _draw(
    history: History, summary: Summary, pictures: Path | None, html: Path | None, trace: Path | None
) -> None:
    """Of the run in which most was proved, by the first seed."""
    from cli.sim.page import page_of
    from flows.study.pictures import pictured
    from plots import chrome_trace, run_pictures

    drawn = pictured(history, summary)
    if len(summary.by_seed[0].run_ids) > 1:
        say(drawn.words)
    if drawn.lacks_stages:
        say(drawn.lacks_stages)
    made = run_pictures(drawn.run) if pictures is not None or html is not None else {}
    if pictures is not None:
        make_folder(pictures)
        for name, png in zip(PICTURES, made.values(), strict=False):
            _write(pictures / name, png)
    if html is not None:
        _write(html, page_of(drawn, summary, made).encode())
    if trace is not None:
        _write(trace, chrome_trace(drawn.run).encode())


def _write(path: Path, content: bytes) -> None:
    with replacing(path) as file:
        file.write(content)
