"""The errors of this room, and which of them time may heal."""

import sqlite3

from sqlalchemy.exc import OperationalError


class HistoryError(Exception):
    """The history cannot be opened, written or asked; the message is one line."""


class JobThere(HistoryError):  # noqa: N818 — an answer more than an error
    """The owner has a job of that request already."""


class NoHistory(HistoryError):  # noqa: N818 — not an error where there was no run yet
    """There is nothing at the address yet, and it was not to be made."""


def time_may_heal(error: HistoryError) -> bool:
    """Whether it is of what comes and goes: a full disk, a lock, a server that is not there yet."""
    return isinstance(error.__cause__, OperationalError | sqlite3.OperationalError)
