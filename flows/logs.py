"""Where log lines go: a file of the run's own, warnings to the flow's page in the UI, few to the terminal."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from prefect.logging.handlers import APILogHandler
from typing_extensions import override

from config import LoggingConfig

OURS = "cuzk"  # the parent of our rooms' loggers
LEVELS = {"trace": logging.DEBUG, "warn": logging.WARNING}  # the others have logging's own names


@contextmanager
def run_log(path: Path, settings: LoggingConfig) -> Iterator[Path]:
    """Inside the block, what our rooms log goes to the new file `path`, as `[logging]` says, and to the
    terminal what is a warning or worse.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    logger, handler, terminal = (
        logging.getLogger(OURS),
        logging.FileHandler(path, "x"),
        logging.StreamHandler(),
    )
    text = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handler.setFormatter(JsonLines() if settings.format == "json" else text)
    terminal.setLevel(logging.WARNING)
    level, propagate = logger.level, logger.propagate
    logger.setLevel(LEVELS.get(settings.level, settings.level.upper()))
    logger.propagate = False  # Prefect prints what reaches the root
    try:
        with _attached(logger, handler), _attached(logger, terminal):
            yield path
    finally:
        logger.propagate = propagate
        logger.setLevel(level)
        handler.close()


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


@contextmanager
def engine_log_in_ui(flow_run_id: str) -> Iterator[None]:
    """Inside the block, what our rooms warn of from whatever thread is shown with the flow run."""

    def belongs_to_flow(record: logging.LogRecord) -> bool:
        record.flow_run_id = flow_run_id
        return True

    handler = APILogHandler(logging.WARNING)
    handler.addFilter(belongs_to_flow)
    with _attached(logging.getLogger(OURS), handler):
        yield


def leave_out_good_ends() -> None:
    """Of tasks that end well no line says so: their state does, and each line costs the server a row."""
    logging.getLogger("prefect.task_runs").addFilter(_no_good_end)


def _no_good_end(record: logging.LogRecord) -> bool:
    return not (record.levelno <= logging.INFO and record.getMessage().startswith("Finished in state"))


@contextmanager
def quiet_terminal() -> Iterator[None]:
    """Inside the block, the logs of runs go to the UI only; what Prefect itself warns of is still shown."""
    runs, internals = logging.getLogger("prefect"), logging.getLogger("prefect._internal")
    propagate, level = runs.propagate, internals.level
    runs.propagate = False
    internals.setLevel(logging.CRITICAL)  # it prints pages of what could not be sent, beside the warning
    try:
        yield
    finally:
        runs.propagate = propagate
        internals.setLevel(level)


@contextmanager
def _attached(logger: logging.Logger, handler: logging.Handler) -> Iterator[None]:
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
