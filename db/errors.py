"""The error of this room."""


class HistoryError(Exception):
    """The history cannot be opened, written or asked; the message is one line."""
