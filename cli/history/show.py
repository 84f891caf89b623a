"""`cuzk history show RUN`: one run, as a table, a timeline and a plot of its memory, or as a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.history.options import opened
from cli.options import OUTPUT_FILE, conclude, json_option
from config.environment import history_file
from groth16.output import check_outputs, replacing

if TYPE_CHECKING:
    from cli.history.options import Place
    from db import History, RunDetail


@click.command(short_help="Show one run: table, timeline, memory.")
@click.argument("run", metavar="RUN")
@click.option("--all", "list_all", is_flag=True, help="List every proof, however many.")
@click.option("--html", "page", type=OUTPUT_FILE, metavar="FILE", help="Write it as a page instead.")
@json_option
@click.pass_obj
def show(place: Place, run: str, list_all: bool, page: Path | None, as_json: bool) -> None:
    """Show the run whose id is RUN or begins with it; of a large one, the first and last proofs.

    The page that --html writes needs nothing beside it, and has every partition.
    """
    from cli.table import MOST_LISTED, print_run, run_values
    from db import find_run, show_run

    file = history_file(place.url)
    check_outputs([page] if page is not None else [], [file] if file is not None else [])
    with opened(place) as history:
        detail = show_run(history, find_run(history, run).id)
        if page is not None:
            _write_page(history, detail, page)
        elif as_json:
            from cli.history.output import print_json

            more = {"machine": detail.machine, "config": detail.config, "each_proof": _proof_values(detail)}
            print_json(run_values(detail.summary) | more)
        else:
            print_run(detail, None if list_all else MOST_LISTED)
            _print_plots(history, detail, list_all)


def _proof_values(detail: RunDetail) -> list[dict[str, object]]:
    from dataclasses import asdict

    return [
        {"name": each.proof.name, "state": each.proof.state, "error": each.proof.error} | asdict(each.seconds)
        for each in detail.proofs
    ]


def _print_plots(history: History, detail: RunDetail, whole: bool) -> None:
    from cli.history.plots import memory_plot, timeline
    from cli.table import print_parts
    from db import memory_samples, stage_spans

    spans, samples = stage_spans(history, detail.run.id), memory_samples(history, detail.run.id)
    for lines in (timeline(spans, whole), memory_plot(samples, detail.run.budget_bytes)):
        if lines:
            print()
            print_parts(*lines)


def _write_page(history: History, detail: RunDetail, page: Path) -> None:
    from cli.history.page import html_page
    from db import memory_samples, stage_spans

    run_id = detail.run.id
    text = html_page(detail, stage_spans(history, run_id), memory_samples(history, run_id))
    with replacing(page) as file:
        file.write(text.encode())
    conclude(str(page), page)
