"""Names that people choose, which stand in logs, tables and Prefect's UI."""

from typing import Annotated

from pydantic import AfterValidator

from config.errors import ConfigError


def _printable(name: str) -> str:
    if not name.isprintable():
        raise ConfigError(f"found {name!r}, expected printable characters on one line")
    return name


PrintableName = Annotated[str, AfterValidator(_printable)]
"""Without what would break a line of a log, or steer a terminal."""
