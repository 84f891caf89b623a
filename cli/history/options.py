"""The filters that the questions share, and the history that they are asked of."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from config import Config
    from db import History

FIRST_RUN = "try: cuzk bench batch --type merkle"
STATES = ("succeeded", "failed", "cancelled", "interrupted", "running", "waiting")


def moment(_context: object, _parameter: object, value: str | None) -> datetime | None:
    """A moment: so long ago, as "7d", or a local date or time, as "2026-03-01" or "2026-03-01T14:30"."""
    from config import ConfigError, parse_duration

    if value is None:
        return None
    try:
        return datetime.now(UTC) - timedelta(seconds=parse_duration(value))
    except ConfigError:
        pass  # then a date
    try:
        return datetime.fromisoformat(value).astimezone()
    except ValueError as error:
        expected = "how long ago, as 7d or 12h, or a date, as 2026-03-01"
        raise click.BadParameter(f"found {value!r}, expected {expected}") from error


FILTERS = (
    click.option("--circuit", metavar="NAME", help="Of this circuit only."),
    click.option(
        "--since", callback=moment, metavar="WHEN", help="Runs begun since then: 7d (ago), or 2026-03-01."
    ),
    click.option("--until", callback=moment, metavar="WHEN", help="Runs begun before then."),
    click.option("--source", type=click.Choice(["real", "sim"]), help="Real or simulated runs only."),
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
def opened(config: Config) -> Iterator[History]:
    """The history of the settings, which must be there. Raises NoHistory with what to do where it is not."""
    from db import NoHistory, open_history

    try:
        history = open_history(config.history_url(), create=False, spool=config.history_spool())
    except NoHistory as error:
        raise NoHistory(f"{error}; {FIRST_RUN}") from error
    with history:
        yield history
