"""`cuzk sim validate`: what a profile predicts of runs, beside what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.history.options import opened, place_of
from cli.options import INPUT_FILE, config_option, json_option

if TYPE_CHECKING:
    from sim.validate import Comparison, FigureError


@click.command(short_help="Compare what a profile predicts with recorded runs, or with published figures.")
@click.argument("runs", nargs=-1, metavar="[RUN]…")
@click.option(
    "--table", type=INPUT_FILE, metavar="FILE", help="Published rows, JSON or CSV, instead of runs."
)
@click.option("--machine", "-m", required=True, metavar="NAME", help="Profile: a TOML file or a bundled one.")
@json_option
@config_option
def validate(
    config_path: Path | None, runs: tuple[str, ...], table: Path | None, machine: str, as_json: bool
) -> None:  # fmt: skip
    """Predict the real runs RUN, or the newest ten that went well, and show the errors figure by figure.

    Of each figure the median and the worst error, the bias, and the spread of real runs that were alike.
    """
    from sim import load_profile

    if table is not None and runs:
        raise click.UsageError("--table and runs are given, expected one of them")
    profile = load_profile(machine)
    if table is not None:
        _show_rows(table, machine, as_json)
        return
    from sim.recorded import read_examples
    from sim.validate import compare_run, figure_errors

    with opened(place_of(config_path)) as history:
        examples = read_examples(history, runs, newest=10)
    comparisons = [compare_run(each, profile) for each in examples]
    if as_json:
        _print_json(comparisons, figure_errors(comparisons))
    else:
        _print_tables(comparisons, figure_errors(comparisons))


def _print_json(comparisons: list[Comparison], errors: list[FigureError]) -> None:
    from dataclasses import asdict

    from cli.history.output import print_json

    runs = [
        {"run": each.run_id, "predicted": each.predicted, "measured": each.measured, "errors": each.errors}
        for each in comparisons
    ]
    print_json({"figures": [asdict(each) for each in errors], "runs": runs})


def _print_tables(comparisons: list[Comparison], errors: list[FigureError]) -> None:
    from cli.table import print_parts, table

    right = ("runs", "median", "worst", "bias", "spread of real runs")
    figures = table("figure", *right, right=right)
    for each in errors:
        spread = "–" if each.spread is None else f"{each.spread:.1%}"
        shares = (f"{each.median:.1%}", f"{each.worst:.1%}", f"{each.bias:+.1%}")
        figures.add_row(each.name, str(each.runs), *shares, spread)
    right = ("predicted", "measured", "error")
    runs = table("run", "figure", *right, right=right)
    for comparison in comparisons:
        for name in ("makespan_s", "peak_rss_bytes"):
            if name in comparison.errors:
                values = (comparison.predicted[name], comparison.measured[name])
                cells = (*[_value(name, value) for value in values], f"{comparison.errors[name]:+.1%}")
                runs.add_row(comparison.run_id, name, *cells)
    print_parts(figures, runs)


def _value(name: str, value: float) -> str:
    from config import format_size

    return format_size(round(value)) if name.endswith("_bytes") else f"{value:.2f}"


def _show_rows(path: Path, machine: str, as_json: bool) -> None:
    from sim import load_profile
    from sim.published import read_published, read_rows, row_errors

    found = row_errors(read_rows(path), read_published().circuit, load_profile(machine))
    if as_json:
        from cli.history.output import print_json

        print_json(
            [{**row.model_dump(), "predicted": figures, "errors": errors} for row, figures, errors in found]
        )
        return
    from cli.table import print_parts, table

    counts = ("proofs", "at a time", "partition workers", "GPU workers")
    right = (*counts, "s a proof", "measured", "error", "peak GiB", "measured GiB", "error")
    rows = table(*right, right=right)
    for row, figures, errors in found:
        asked = (row.proofs, row.concurrency, row.partition_workers, row.gpu_workers)
        peak = "–" if row.peak_rss_gib is None else f"{row.peak_rss_gib:.0f}"
        rows.add_row(
            *map(str, asked),
            f"{figures['seconds_per_proof']:.1f}",
            f"{row.seconds_per_proof:.1f}",
            f"{errors['seconds_per_proof']:+.1%}",
            f"{figures['peak_rss_gib']:.0f}",
            peak,
            f"{errors['peak_rss_gib']:+.1%}" if "peak_rss_gib" in errors else "–",
        )
    print_parts(rows)
