"""Entry point of `cuzk`: the list of commands, and how refusals and signals end them.

Commands import what they need inside their functions, so that `cuzk --help` and `cuzk verify`
do not pay for Prefect, SQLAlchemy or the compiler.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from types import FrameType
from typing import NoReturn

import click

from cli.bench import bench
from cli.capacity import capacity
from cli.daemon import daemon
from cli.deploy import deploy
from cli.doctor import doctor
from cli.history import history
from cli.interrupts import is_interrupt
from cli.prove import prove
from cli.serve import serve
from cli.setup import setup
from cli.sim import sim
from cli.streams import lead_nowhere, outlive_readers, replace_missing
from cli.top import top
from cli.torture import torture
from cli.ui import ui
from cli.verify import verify
from cli.vkey import vkey
from cli.warmup import warmup
from config.refusals import is_refusal
from engine.forced_end import INTERRUPTED, end_soon_after_a_signal

FAILED, BAD_INPUT = 1, 2


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="cuzk", prog_name="cuzk")
def cli() -> None:
    """Prove batches of Groth16 proofs on machines you own, inside one memory budget.

    Try `cuzk bench batch --type merkle --count 3 --concurrency 3` for a first batch of a bundled
    circuit. For a circuit of your own: `cuzk setup`, `cuzk prove`, `cuzk verify`.
    """
    if "CUZK_LANES" in os.environ:
        _check_lane_choice()


def _check_lane_choice() -> None:
    from kernels.lane_choice import check_lane_choice, lane_choice

    try:
        check_lane_choice(lane_choice())
    except ValueError as error:
        raise click.UsageError(str(error)) from error


SINGLE = (prove, verify, setup, vkey, warmup, doctor)
BATCHES = (bench, top, daemon, sim, capacity, torture, history, ui, deploy, serve)
for command in (*SINGLE, *BATCHES):
    cli.add_command(command)


def main(program: click.Command = cli) -> None:
    """Run the command line; the process ends with 0, 1 (a check failed), 2 (bad input), 75 or 130.

    75 is of a daemon alone, which may be started again later; an error's `exit_status` says so.
    """
    replace_missing()
    outlive_readers()
    signal.signal(signal.SIGTERM, _interrupt)
    if signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:  # not under nohup
        signal.signal(signal.SIGHUP, _terminate)
    end_soon_after_a_signal()
    try:
        _run(program)
    except click.ClickException as error:
        _end(error.format_message(), error.exit_code)
    except KeyboardInterrupt:
        _end("interrupted", INTERRUPTED)
    except (Exception, BaseExceptionGroup) as error:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            lead_nowhere(sys.stdout.fileno())  # or its rest would fail once more as the process ends
            _end(f"cannot write the output ({error.strerror}): make space where it goes", BAD_INPUT)
        if is_refusal(error):
            _end(str(error), getattr(error, "exit_status", BAD_INPUT))
        if is_interrupt(error):
            _end("interrupted", INTERRUPTED)
        if isinstance(error, ImportError):
            _end(f"its installation is not whole ({error}): install it anew, with `make install`", FAILED)
        raise


def daemon_main() -> None:
    """`cuzk-daemon` is `cuzk daemon`."""
    sys.argv[1:1] = ["daemon"]
    main()


def bench_main() -> None:
    """`cuzk-bench`: the public program's names and flags for `cuzk bench`."""
    from cli.bench.public import cuzk_bench

    main(cuzk_bench)


def _run(program: click.Command) -> None:
    _refuse_other_than_utf8()
    try:
        end = program.main(standalone_mode=False)
    except click.Abort as abort:
        # Click's word for an interrupt, and just as well for an EOFError, which is a fault.
        raise abort.__cause__ or KeyboardInterrupt from None
    except SystemExit:
        sys.stdout.flush()  # or what cannot be written would be found out after the last word
        raise
    sys.stdout.flush()
    if callable(end):
        end()


def _refuse_other_than_utf8() -> None:
    """What is typed comes to logs, tables and the history, which are UTF-8: here, for every command."""
    for number, text in enumerate(sys.argv[1:], 1):
        if _has_other_bytes(text):
            raise click.UsageError(f"argument {number}: found {os.fsencode(text)!r}, expected UTF-8")
    for name, text in os.environ.items():
        if name.startswith("CUZK_") and _has_other_bytes(text):
            raise click.UsageError(f"{name}: expected UTF-8")  # without its value: a URL may hold a password


def _has_other_bytes(text: str) -> bool:
    """Whether Python had to keep bytes as they were, which it does as lone surrogates."""
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)


def _end(message: str, status: int) -> NoReturn:
    try:
        sys.stdout.flush()
    except OSError:  # the error that is told came first
        lead_nowhere(sys.stdout.fileno())
    try:
        print("cuzk: " + " ".join(message.split()), file=sys.stderr, flush=True)
    except OSError:  # no room for the words; the status tells
        lead_nowhere(sys.stderr.fileno())
    sys.exit(status)


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    """A terminal that is closed ends the command as SIGTERM does, whoever handles that by now."""
    os.kill(os.getpid(), signal.SIGTERM)
