"""Where log lines go: a file of the run's own, warnings to the flow's page in the UI, few to the terminal."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from prefect.logging.handlers import APILogHandler

from config import LoggingConfig
from engine.log_lines import OURS, LeavesOut, formatter, level_of
from flows.summary import says_it_all


class _RunLog(LeavesOut, logging.FileHandler):
    """A file for one run."""


@contextmanager
def run_log(path: Path, settings: LoggingConfig) -> Iterator[Path]:
    """Inside the block, what our rooms log goes to the new file `path`, as `[logging]` says, and to the
    terminal what is a warning or worse.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    logger, handler, terminal = (
        logging.getLogger(OURS),
        _RunLog(path, "x"),
        logging.StreamHandler(),
    )
    handler.setFormatter(formatter(settings))
    terminal.setLevel(logging.WARNING)
    level, propagate = logger.level, logger.propagate
    logger.setLevel(level_of(settings.level))
    logger.propagate = False  # Prefect prints what reaches the root
    try:
        with _attached(logger, handler), _attached(logger, terminal):
            yield path
    finally:
        logger.propagate = propagate
        logger.setLevel(level)
        handler.close()


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


def leave_out_what_is_told() -> None:
    """Of tasks that end well no line says so: their state does, and each line costs the server a row. Of
    those that fail, no traceback where the error says it all.
    """
    for each in (_no_good_end, _no_needless_traceback):
        logging.getLogger("prefect.task_runs").addFilter(each)


def _no_good_end(record: logging.LogRecord) -> bool:
    return not (record.levelno <= logging.INFO and record.getMessage().startswith("Finished in state"))


def _no_needless_traceback(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    if error is None or says_it_all(error):  # of none there would be a line "NoneType: None"
        record.exc_info = None
    return True


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
