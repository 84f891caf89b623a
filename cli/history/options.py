"""The filters that the questions share, and the history that they are asked of."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.options import look_for_garbage_again, say
from engine.words import telling

if TYPE_CHECKING:
    from db import History

FIRST_RUN = "try: cuzk bench batch --type merkle"
STATES = ("succeeded", "failed", "cancelled", "interrupted", "running", "waiting")


@dataclass(frozen=True)
class Place:
    """Where the history lies, and the folder where records wait for it."""

    url: str
    spool: Path


def place_of(config_path: Path | None) -> Place:
    """By the settings; where there is no file of them, without loading what checks one."""
    from config import history_spool, history_url, settings_file

    if config_path is None and settings_file() is None:
        return Place(history_url(None), history_spool())

    from config import load_config

    config = load_config(config_path)
    return Place(config.history_url(), config.history_spool())


WHEN = "expected a time with a unit, such as 90d, 12h, or a date 2026-03-01"


def moment(_context: object, parameter: click.Parameter, value: str | None) -> datetime | None:
    """A moment in UTC: so long ago, as "7d", or a local date or time, as "2026-03-01" or "2026-03-01T14:30".

    A bare number is refused: whoever deletes what is older than "90" does not mean seconds.
    """
    from config import ConfigError, parse_duration

    if value is None:
        return None
    try:
        return datetime.now(UTC) - timedelta(seconds=parse_duration(value))
    except ConfigError:
        pass  # then a date
    try:
        if value.strip().isdigit():  # "20260301" were one to Python
            raise ValueError
        return datetime.fromisoformat(value).astimezone(UTC)
    except (ValueError, OverflowError) as error:  # OverflowError: beyond the years 1 to 9999 in UTC
        raise click.UsageError(f"{parameter.opts[0]}: {value}: {WHEN}") from error


def past_moment(context: object, parameter: click.Parameter, value: str | None) -> datetime | None:
    """A moment that is over, for what is done to all that was before it."""
    found = moment(context, parameter, value)
    if found is not None and found > datetime.now(UTC):
        raise click.UsageError(f"{parameter.opts[0]}: {value}: lies in the future; {WHEN} that is past")
    return found


FILTERS = (
    click.option("--circuit", metavar="NAME", help="Of this circuit only."),
    click.option(
        "--since",
        callback=moment,
        metavar="WHEN",
        help="Runs begun since then: 7d (ago, with its unit), or 2026-03-01.",
    ),
    click.option("--until", callback=moment, metavar="WHEN", help="Runs begun before then."),
    click.option(
        "--source",
        type=click.Choice(["real", "sim", "bench"]),
        help="Runs of this kind only: real, simulated, or as a bench saw a daemon.",
    ),
    click.option("--host", metavar="NAME", help="Runs of this host only."),
    click.option("--state", type=click.Choice(STATES), help="What has ended so, or is so, only."),
    click.option("--device", metavar="NAME", help="What this device proved only."),
)


def filters(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say what a question is about; the command gets them as `where`, a db.Filter."""

    @functools.wraps(command)
    def gather(*arguments: Any, **options: Any) -> None:
        from db import Filter

        given = {name: options.pop(name) for name in Filter.__dataclass_fields__.keys() & options.keys()}
        command(*arguments, where=Filter(**given), **options)

    for option in reversed(FILTERS):
        gather = option(gather)
    return gather


@contextmanager
def opened(place: Place) -> Iterator[History]:
    """The history at that place, which must be there. Raises NoHistory with what to do where it is not."""
    from db import NoHistory, open_history

    try:
        history = open_history(place.url, create=False, spool=place.spool)
    except NoHistory as error:
        raise NoHistory(f"{error}; {FIRST_RUN}") from error
    look_for_garbage_again()
    with history, telling(say, lambda: f"at work on {history.address}"):
        yield history
