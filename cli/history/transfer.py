"""`cuzk history export` and `import`: runs for other programs, and from other hosts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.history.options import filters, opened
from cli.options import look_for_garbage_again, program, say
from engine.words import telling

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cli.history.options import Place
    from db import Filter
    from db.changes import Change


@click.command(short_help="Write runs as Parquet, CSV or JSON.")
@click.argument("target", type=click.Path(path_type=Path), metavar="TARGET")
@click.option(
    "--format",
    "kind",
    type=click.Choice(["json", "csv", "parquet"]),
    default="json",
    show_default=True,
    help="json: one file, which `import` takes; the others: a folder with a file for each view.",
)
@filters
@click.pass_obj
def export(place: Place, target: Path, kind: str, where: Filter) -> None:
    """Write the runs that are over to TARGET, which must not be there yet."""
    from db import HistoryError
    from db.export import export_lines, export_views

    if target.exists() or target.is_symlink():
        raise HistoryError(f"{target}: is there already; choose another name, or remove it")
    with opened(place) as history:
        runs = export_lines(history, target, where) if kind == "json" else None
        if runs is None:
            runs = export_views(history, target, where, kind)
    print(f"{runs} runs in {target}")


@click.command("import", short_help="Take over runs of other histories.")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE…")
@click.pass_obj
def import_(place: Place, sources: tuple[str, ...]) -> None:
    """Take over the runs of each SOURCE: a file of `export`, another history's SQLite file, or a URL.

    What is here already stays as it is, so that importing twice is importing once.
    """
    from db import open_history, write_rows

    opened_or_made = open_history(place.url, spool=place.spool)
    look_for_garbage_again()
    with opened_or_made as history, telling(say, lambda: f"at work on {history.address}"):
        for source in sources:
            runs = write_rows(history, rows_of(source))
            print(f"{source}: {runs} runs, now in {history.address}; list them: {program()} history")


def rows_of(source: str) -> Iterable[Change]:
    """The rows of a file of lines, or of another history."""
    from db import HistoryError, open_history, read_lines, rows_of_runs

    path = Path(source)
    if path.is_dir():
        raise HistoryError(f"{source}: is a folder; expected a file of `cuzk history export --format json`")
    if "://" not in source and not path.is_file():
        raise HistoryError(f"{source}: is no file; expected one of `cuzk history export`, or a history")
    if "://" not in source and not _is_sqlite(path):
        yield from read_lines(path)
        return
    with open_history(source, create=False) as other:
        yield from rows_of_runs(other)


def _is_sqlite(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(16).startswith(b"SQLite format 3")
