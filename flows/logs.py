"""Where log lines go: all of them to the flow's page in the UI, few to the terminal."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from prefect.logging.handlers import APILogHandler


@contextmanager
def engine_log_in_ui(flow_run_id: str) -> Iterator[None]:
    """Inside the block, what our rooms log from whatever thread is shown with the flow run."""

    def belongs_to_flow(record: logging.LogRecord) -> bool:
        record.flow_run_id = flow_run_id
        return True

    handler, logger = APILogHandler(), logging.getLogger("cuzk")
    handler.addFilter(belongs_to_flow)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


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
