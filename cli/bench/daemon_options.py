"""What the commands share that go to a daemon: where it is, what is asked of it, and how runs end."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from cli.options import config_option, with_options

if TYPE_CHECKING:
    from bench.asked import PublicOptions
    from config import Config
    from daemon.client import Client

T = TypeVar("T")
TIMED_OUT = 3
FILE = click.Path(path_type=Path)


@dataclass(frozen=True)
class PublicProgram:
    """What `cuzk-bench` was called with before its command; its commands find it as click's object."""

    addr: str


class Duration(click.ParamType):
    """Seconds, or "90s", "5m", "1h"."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        from config import ConfigError, parse_duration

        if isinstance(value, float):
            return value
        try:
            return parse_duration(value, needs_unit=False)
        except ConfigError as error:
            self.fail(str(error), param, ctx)


ADDRESS_OPTIONS = (
    click.option("--addr", "-a", metavar="ADDRESS", help="The daemon's (default: daemon.listen's)."),
    click.option("--token-file", type=FILE, metavar="FILE", help="The token that the daemon wants."),
    click.option("--ca", type=FILE, metavar="FILE", help="Who certifies the daemon, for https (PEM)."),
    click.option("--cert", type=FILE, metavar="FILE", help="This client's certificate (PEM)."),
    click.option("--key", type=FILE, metavar="FILE", help="And its key (PEM)."),
)
RUN_OPTIONS = (
    click.option("--spawn", is_flag=True, help="Start a daemon for this run, and end it after."),
    click.option(
        "--timeout",
        "timeout_s",
        type=Duration(),
        metavar="TIME",
        help="End with a diagnosis and status 3 after that.",
    ),
    click.option(
        "--silence",
        "silence_s",
        type=Duration(),
        default=30.0,
        show_default="30s",
        metavar="TIME",
        help="Without a word for so long the daemon is asked why.",
    ),
    click.option(
        "--interval",
        "interval_s",
        type=click.FloatRange(0.1, 60),
        default=1.0,
        show_default=True,
        metavar="SECONDS",
        help="Between two looks at the daemon's process.",
    ),
    click.option("--vs", metavar="RUN", default="", help="Compare with that run of the history."),
)
PUBLIC_OPTIONS = (
    click.option("--c1", type=FILE, metavar="FILE", help="Input of a porep proof."),
    click.option("--vanilla", type=FILE, metavar="FILE", help="Input of a snap, wpost or winning proof."),
    click.option("--registered-proof", type=click.IntRange(min=0), default=0, help="Number of its type."),
    click.option("--sector-num", type=click.IntRange(min=0), default=1, help="Its sector."),
    click.option("--miner-id", type=click.IntRange(min=0), default=1000, help="Its miner."),
    click.option("--partition", type=click.IntRange(min=0), default=0, help="Of a wpost proof."),
    click.option("--randomness", metavar="HEX", help="Of a wpost or winning proof, 32 bytes."),
    click.option("--comm-r-old", metavar="HEX", help="Of a snap proof, 32 bytes."),
    click.option("--comm-r-new", metavar="HEX", help="Of a snap proof, 32 bytes."),
    click.option("--comm-d-new", metavar="HEX", help="Of a snap proof, 32 bytes."),
)


def address_options(command: Any) -> Any:
    """Where the daemon is; the command gets them as `where`, a Where, with its `config`."""
    return with_options(_gathered(command), (*ADDRESS_OPTIONS, config_option))


def run_options(command: Any) -> Any:
    """The same, and how a run is made."""
    return with_options(_gathered(command), (*ADDRESS_OPTIONS, *RUN_OPTIONS, config_option))


def daemon_options(command: Any) -> Any:
    """All of them, for a command that has the settings' option by other means."""
    return with_options(_gathered(command), (*ADDRESS_OPTIONS, *RUN_OPTIONS, *PUBLIC_OPTIONS))


def public_options(command: Any) -> Any:
    """What the public protocol says of a proof."""
    return with_options(command, PUBLIC_OPTIONS)


DAEMON_ONLY = {
    name: "--" + name.removesuffix("_s").replace("_", "-")
    for name in (
        "token_file", "ca", "cert", "key", "timeout_s", "silence_s", "interval_s", "vs", "c1", "vanilla",
        "registered_proof", "sector_num", "miner_id", "partition", "randomness", "comm_r_old", "comm_r_new",
        "comm_d_new",
    )
}  # fmt: skip
"""Options by their parameters' names."""


@dataclass(frozen=True)
class Where:
    """The daemon, and how a run with it is made."""

    addr: str | None
    token_file: Path | None
    ca: Path | None
    cert: Path | None
    key: Path | None
    config_path: Path | None = None
    spawn: bool = False
    timeout_s: float | None = None
    silence_s: float = 30.0
    interval_s: float = 1.0
    vs: str = ""

    @property
    def is_given(self) -> bool:
        """Whether a daemon was named, or is to be started."""
        return self.spawn or self.addr is not None or as_public_program() is not None

    def config(self) -> Config:
        """The settings. Warnings are for who starts a daemon or proves."""
        from config import load_config

        return load_config(self.config_path, warn=lambda _: None)

    def address(self, config: Config) -> str:
        """As given, or as the settings have it."""
        program = as_public_program()
        return self.addr or (program.addr if program is not None else config.daemon.listen)

    def connected(self) -> AbstractAsyncContextManager[Client]:
        """A client of it."""
        from daemon.client import connect

        config = self.config()
        return connect(self.address(config), **self.how(config))

    def how(self, config: Config) -> dict[str, Any]:
        """For `daemon.client.connect`: as given, or as `[client]` of the settings has it."""
        settings = dict(config.client)
        given = {name: getattr(self, name) for name in settings}
        return settings | {name: path for name, path in given.items() if path is not None}


def _gathered(command: Callable[..., None]) -> Callable[..., None]:
    import functools

    @functools.wraps(command)
    def gather(*arguments: Any, **options: Any) -> None:
        names = {field.name for field in fields(Where)} & options.keys()
        where = Where(**{name: options.pop(name) for name in names})
        if where.spawn and where.addr is not None:
            raise click.UsageError("--spawn starts a daemon, --addr names one; give one of them")
        command(*arguments, where=where, **options)

    return gather


def as_public_program() -> PublicProgram | None:
    """What `cuzk-bench` was called with, where it is the program."""
    return click.get_current_context().find_object(PublicProgram)


def was_left_out(name: str) -> bool:
    """Whether the parameter of that name has its default."""
    return click.get_current_context().get_parameter_source(name) in (None, ParameterSource.DEFAULT)


def public_of(options: dict[str, Any]) -> PublicOptions:
    """Takes its own out of the options."""
    from bench.asked import PublicOptions

    return PublicOptions(**{field.name: options.pop(field.name) for field in fields(PublicOptions)})
