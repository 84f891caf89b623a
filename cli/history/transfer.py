"""`cuzk history export` and `import`: runs for other programs, and from other hosts."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.history.options import filters, opened
from cli.options import FileOrStream, conclude, counted, look_for_garbage_again, program, say
from engine.words import telling
from groth16.output import is_stdout

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cli.history.options import Place
    from db import Filter, Imported
    from db.changes import Change

ANOTHER_SOURCE = "name another SOURCE"


@click.command(short_help="Write runs as Parquet, CSV or JSON.")
@click.argument("target", type=FileOrStream("/dev/stdout"), metavar="TARGET")
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
    """Write the runs that are over to TARGET, which must not be there yet; "-" is stdout, for JSON."""
    from db import HistoryError, rows_of_runs, write_lines
    from db.export import export_lines, export_views, some

    to_stdout = is_stdout(target)
    if to_stdout and kind != "json":
        raise HistoryError(f"TARGET: found stdout, expected a folder to make: {kind} is a file for each view")
    if not to_stdout and os.path.lexists(target):
        raise HistoryError(f"{target}: is there already; choose another name, or remove it")
    with opened(place) as history:
        if to_stdout:
            runs = some(write_lines(sys.stdout, rows_of_runs(history, where)))
        elif kind == "json":
            runs = export_lines(history, target, where)
        else:
            runs = export_views(history, target, where, kind)
    conclude(f"{counted(runs, 'run')} in {target}", target)


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
            came = write_rows(history, rows_of(source))
            print(f"{source}: {_told(came, history.address)}")


def _told(came: Imported, address: str) -> str:
    if came.new == 0:
        there = f"{counted(came.known, 'run')}, already in {address}" if came.known else "no run that is over"
        return f"nothing new: {there}"
    there = f", {came.known} were there already" if came.known else ""
    return f"{counted(came.new, 'new run')} in {address}{there}; list them: {program()} history"


def rows_of(source: str) -> Iterable[Change]:
    """The rows of a file of lines, or of another history."""
    from db import open_history, read_lines, rows_of_runs

    if "://" not in source and not _is_sqlite(Path(source)):
        yield from read_lines(Path(source))
        return
    with open_history(source, create=False, otherwise=ANOTHER_SOURCE) as other:
        yield from rows_of_runs(other)


def _is_sqlite(path: Path) -> bool:
    from db import HistoryError

    try:
        if path.is_dir():
            expected = "expected a file of `cuzk history export --format json`"
            raise HistoryError(f"{path}: is a folder; {expected}")
        if not path.is_file():
            raise HistoryError(f"{path}: is no file; expected one of `cuzk history export`, or a history")
        with path.open("rb") as file:
            return file.read(16).startswith(b"SQLite format 3")
    except OSError as error:
        why = f"cannot be read ({error.strerror})"
        raise HistoryError(f"{path}: {why}; check its name and permissions, or {ANOTHER_SOURCE}") from error
