"""Which code makes a run, for its record."""

from importlib.metadata import PackageNotFoundError, version


def code_version() -> str:
    """The installed package's version; "unknown" where the code runs without being installed."""
    try:
        return version("cuzk")
    except PackageNotFoundError:
        return "unknown"
