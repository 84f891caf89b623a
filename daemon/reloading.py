"""What SIGHUP changes in a running daemon, and what it says of the rest."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from config import Config, ConfigError, format_size
from daemon.book import Book
from daemon.circuits import Circuits
from daemon.errors import DaemonError
from daemon.logs import set_level
from engine import Engine

if TYPE_CHECKING:
    from daemon.run import Start

log = logging.getLogger("cuzk.daemon")

CHANGES = (
    ("logging", "level"),
    ("memory", "total_budget"),
    ("daemon", "queue_limit"),
    ("daemon", "keep_results"),
    ("daemon", "circuits"),
)


def reload_at(start: Start, current: Engine, book: Book, circuits: Circuits) -> None:
    """Take over what the settings say now; a file that is no good changes nothing. Says all in the log."""
    try:
        config = start.load()
        circuits.reload(config)
    except (ConfigError, DaemonError) as error:
        log.error("the settings were not reloaded: %s", error)
        return
    set_level(config.logging.level)
    book.queue_limit, book.shelf.keep_results_s = config.daemon.queue_limit, config.daemon.keep_results
    budget = config.memory.total_budget
    if isinstance(budget, int) and budget != current.limits.budget_bytes:  # "auto" stays what it was
        current.resize(budget)
    log.warning(
        "settings reloaded: level %s, budget %s, queue limit %d, results kept %g s%s",
        config.logging.level, format_size(current.limits.budget_bytes), book.queue_limit,
        book.shelf.keep_results_s, _unchanged(start.config, config),
    )  # fmt: skip
    for line in circuits.troubles():
        log.warning("%s", line)


def _unchanged(before: Config, now: Config) -> str:
    old, new = before.model_dump(mode="json"), now.model_dump(mode="json")
    names = [
        f"{section}.{key}"
        for section, table in new.items()
        for key, value in table.items()
        if section != "circuits" and (section, key) not in CHANGES and old[section].get(key) != value
    ]
    return f"; only a restart changes {', '.join(names)}" if names else ""
