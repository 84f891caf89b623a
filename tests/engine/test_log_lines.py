"""Logs on a disk that is full: lines are left out, and nothing else is said."""

import logging
from pathlib import Path

import pytest

from engine.log_lines import LeavesOut


class FileOf(LeavesOut, logging.FileHandler):
    """As the daemon's and the batches'."""


def test_a_full_disk_takes_lines_and_no_more(capsys: pytest.CaptureFixture[str]) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("the system has no disk that is always full")
    logger, handler = logging.getLogger("test_log_lines"), FileOf(full, "w")
    logger.addHandler(handler)
    try:
        for number in range(3):
            logger.error("line %d", number)
    finally:
        logger.removeHandler(handler)
        handler.close()
    assert "Logging error" not in capsys.readouterr().err
