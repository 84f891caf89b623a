"""Where a daemon's words go: files of its own run, and never a pipe that somebody has to read."""

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path

from config import LoggingConfig
from engine.log_lines import OURS, LeavesOut, formatter, level_of

FILE_BYTES = 64 << 20
KEPT_FILES = 5


class _RunLog(LeavesOut, RotatingFileHandler):
    """Several files, the older ones numbered."""


@contextmanager
def run_log(path: Path, settings: LoggingConfig) -> Iterator[Path]:
    """Inside the block, what our rooms log goes to the new file `path`; a full one moves to `path`.1, …"""
    path.parent.mkdir(parents=True, exist_ok=True)
    handler = _RunLog(path, "x", FILE_BYTES, KEPT_FILES, encoding="utf-8")
    handler.setFormatter(formatter(settings))
    logger = logging.getLogger(OURS)
    level, propagate = logger.level, logger.propagate
    logger.propagate = False
    set_level(settings.level)
    logger.addHandler(handler)
    try:
        yield path
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagate
        logger.setLevel(level)
        handler.close()


def set_level(name: str) -> None:
    """How much our rooms log from now on."""
    logging.getLogger(OURS).setLevel(level_of(name))


def leave_streams(path: Path) -> None:
    """Lead stdout and stderr to the file, unless a person reads them.

    A pipe whose reader has stopped would hold up whoever writes, libraries too, once it is full.
    """
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    if os.isatty(1) and os.isatty(2):
        return
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o640)
    for each in (1, 2):
        if not os.isatty(each):
            os.dup2(descriptor, each)
    os.close(descriptor)
