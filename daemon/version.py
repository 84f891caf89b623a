"""Which program, and which protocol of its own, a daemon and a client speak."""

from importlib.metadata import PackageNotFoundError, version

PROTOCOL = 1
"""Counts up where a client of the former would misunderstand the answers."""


def code_version() -> str:
    """The installed package's version; "unknown" where the code runs without being installed."""
    try:
        return version("cuzk")
    except PackageNotFoundError:
        return "unknown"
