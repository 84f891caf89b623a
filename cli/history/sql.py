"""`cuzk history sql`: a question in SQL."""

from __future__ import annotations

import csv
import sys
from typing import TYPE_CHECKING

import click

from cli.history.options import opened
from cli.options import json_option

if TYPE_CHECKING:
    from cli.history.options import Place


@click.command(short_help="Ask in SQL; nothing can be changed so.")
@click.argument("statement", metavar="STATEMENT")
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print the result as CSV.")
@click.pass_obj
def sql(place: Place, statement: str, as_json: bool, as_csv: bool) -> None:
    """Answer an SQL statement that reads.

    The views history_runs, history_proofs, history_partitions, history_stages, history_waits,
    history_memory, history_decisions, history_cache and history_devices keep their names and columns.
    """
    from cli.history.output import print_json
    from cli.table import print_parts, table
    from db import ask

    if as_json and as_csv:
        raise click.UsageError("found --json and --csv, expected one of them")
    with opened(place) as history:
        answer = ask(history, statement)
    if as_json:
        check_names(answer.columns)
        print_json([dict(zip(answer.columns, row, strict=True)) for row in answer.rows])
    elif as_csv:
        csv.writer(sys.stdout, lineterminator="\n").writerows([answer.columns, *answer.rows])
    else:
        made = table(*answer.columns, right=())
        for row in answer.rows:
            made.add_row(*("" if value is None else str(value) for value in row))
        print_parts(made)


def check_names(columns: tuple[str, ...]) -> None:
    """Refuse two columns of one name, of which an object of JSON holds only one."""
    from db import HistoryError

    if twice := [name for position, name in enumerate(columns) if name in columns[:position]]:
        raise HistoryError(f"found two columns {twice[0]!r}: name them apart with AS, or take --csv")
