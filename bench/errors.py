"""The error of this room."""


class BenchError(Exception):
    """A run that cannot begin or go on; the message is one line that says what to do."""
