"""`cuzk` in the tests' own process, as `cli.main.main` runs it, but for signals and the last word."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import click
import pytest

from cli.main import _run, cli
from config.refusals import REFUSALS


@dataclass(frozen=True)
class Done:
    """As of a process that has ended."""

    returncode: int
    stdout: str
    stderr: str


Call = Callable[..., Done]


def refusals() -> tuple[type[Exception], ...]:
    """What the command line ends with in one line."""
    return (
        click.ClickException,
        *(getattr(import_module(module), name) for module, name in REFUSALS.items()),
    )


def caller(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], home: Path, config: Path
) -> Call:
    """Runs a command with that home and those settings; what is refused is the last line."""

    def call(*arguments: object, program: click.Command = cli) -> Done:
        with monkeypatch.context() as patch:
            patch.setenv("CUZK_HOME", str(home))
            patch.setenv("CUZK_CONFIG", str(config))
            patch.setattr(sys, "argv", [program.name or "cuzk", *map(str, arguments)])
            capsys.readouterr()
            refused = ""
            try:
                _run(program)
                status = 0
            except SystemExit as ended:
                status = ended.code if isinstance(ended.code, int) else 1
            except refusals() as error:
                refused = error.format_message() if isinstance(error, click.ClickException) else str(error)
                status = getattr(error, "exit_status", 2)
            out, err = capsys.readouterr()
        return Done(status, out, err + (f"cuzk: {refused}\n" if refused else ""))

    return call
