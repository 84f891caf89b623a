"""`cuzk history prune` and `vacuum`: a history that does not grow for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cli.history.options import opened, past_moment
from cli.options import counted

if TYPE_CHECKING:
    from datetime import datetime

    from cli.history.options import Place


@click.command(short_help="Delete old runs.")
@click.option(
    "--keep",
    "before",
    callback=past_moment,
    required=True,
    metavar="WHEN",
    help="Runs begun since then stay: 90d (ago, with its unit), or 2026-03-01.",
)
@click.pass_obj
def prune(place: Place, before: datetime) -> None:
    """Delete the runs that began before then and are over, with all that belongs to them; `vacuum` after it
    gives their space back to the disk."""
    from cli.history.output import local
    from db import prune as delete

    with opened(place) as history:
        count = delete(history, before)
        print(f"deleted {counted(count, 'run')} begun before {local(before)} from {history.address}")


@click.command(short_help="Give the space of deleted runs back.")
@click.pass_obj
def vacuum(place: Place) -> None:
    """Give the space of deleted runs back to the disk, and let the database count its rows anew."""
    from config import format_size
    from db import vacuum as rewrite

    with opened(place) as history:
        before_bytes, after_bytes = rewrite(history)
        print(f"{history.address}: {format_size(before_bytes)} before, {format_size(after_bytes)} now")
