"""How lines of our logs look, as `[logging]` says."""

import json
import logging
from contextlib import suppress
from datetime import UTC, datetime

from typing_extensions import override

from config import LoggingConfig

OURS = "cuzk"  # the parent of our rooms' loggers
LEVELS = {"trace": logging.DEBUG, "warn": logging.WARNING}  # the others have logging's own names


class JsonLines(logging.Formatter):
    """A record as one JSON object."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            fields["error"] = self.formatException(record.exc_info)
        return json.dumps(fields)


class LeavesOut(logging.Handler):
    """What cannot be written, as on a full disk, is left out: the work goes on, and tells of it elsewhere."""

    @override
    def handleError(self, record: logging.LogRecord) -> None:
        """Say nothing: the next line may find room."""

    @override
    def close(self) -> None:
        """Let go of the file, though what is left for it cannot be written."""
        with suppress(OSError):
            super().close()


def formatter(settings: LoggingConfig) -> logging.Formatter:
    """Text, or a JSON object a line."""
    if settings.format == "json":
        return JsonLines()
    return logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")


def level_of(name: str) -> int | str:
    """The level that a name of the settings means, as logging takes it."""
    return LEVELS.get(name, name.upper())
