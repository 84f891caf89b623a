"""The error of this room."""


class HistoryError(Exception):
    """The history cannot be opened, written or asked; the message is one line."""


class JobThere(HistoryError):  # noqa: N818 — an answer more than an error
    """The owner has a job of that request already."""


class NoHistory(HistoryError):  # noqa: N818 — not an error where there was no run yet
    """There is nothing at the address yet, and it was not to be made."""
