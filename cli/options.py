"""Options and small helpers that several commands share."""

from __future__ import annotations

import errno
import functools
import gc
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

from config.bounds import MOST, MOST_PROOFS
from groth16.errors import InputError
from groth16.opening import refusal_of_kind
from groth16.output import is_stdout


class FileOrStream(click.Path):
    """A path; "-" is a standard stream, as for other programs. Existence is checked where a file is read."""

    def __init__(self, stream: str, **options: Any) -> None:
        super().__init__(path_type=Path, **options)
        self._stream = stream

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert(self._stream if value == "-" else value, param, ctx)


INPUT_FILE = FileOrStream("/dev/stdin")
OUTPUT_FILE = FileOrStream("/dev/stdout", dir_okay=False)

config_option = click.option(
    "--config",
    "config_path",
    type=INPUT_FILE,
    metavar="FILE",
    help="Configuration file (default: $CUZK_CONFIG, else ./cuzk.toml if it is there).",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
threads_option = click.option(
    "--threads",
    type=click.IntRange(1, MOST),
    default=None,
    help="Threads that run kernels (default: every core this process may use).",
)


BATCH_OPTIONS = (
    click.option("--type", "-t", "circuit", metavar="NAME", help="Circuit: configured or bundled."),
    click.option("--count", "-c", type=click.IntRange(1, MOST_PROOFS), help="Proofs (default: 3)."),
    click.option(
        "--concurrency",
        "-j",
        type=click.IntRange(1, MOST),
        default=3,
        show_default=True,
        help="Proofs submitted at a time; the memory budget decides how many of them run.",
    ),
    click.option(
        "--budget",
        metavar="SIZE",
        help='Memory for everything, as "2GiB", or "auto" (default: the settings\').',
    ),
    click.option(
        "--partitions",
        type=click.IntRange(1, MOST),
        help="Groth16 proofs that make up one proof (default: the circuit's).",
    ),
    click.option(
        "--priority",
        type=click.Choice(["critical", "high", "normal", "low"]),
        help="Which proofs go first (default: the circuit's).",
    ),
    config_option,
)

REAL_BATCH_OPTIONS = (
    click.option(
        "--resume",
        metavar="RUN",
        help="Prove what is left of that run, into the same folder; takes the place of --type.",
    ),
    click.option(
        "--mode",
        type=click.Choice(["real", "simulated"]),
        default="real",
        show_default=True,
        help="Simulated: the same flow on a modelled machine, in no time.",
    ),
    click.option(
        "--inputs",
        type=click.Path(path_type=Path),
        multiple=True,
        metavar="PATH",
        help="Witness or input file, one for each proof, or a folder of them; may be repeated.",
    ),
    click.option(
        "--engine",
        metavar="ADDRESS",
        default="",
        help='A daemon that proves, as "http://127.0.0.1:9820" (default: this process).',
    ),
    click.option("--due", metavar="WHEN", help='When it should be done: "06:00", "8h", or a date.'),
    click.option(
        "--device",
        metavar="GPUS",
        help='What proves: "0,1", "all", "none" or "auto" (default: the settings\').',
    ),
    click.option(
        "--host",
        "hosts",
        multiple=True,
        metavar="QUEUE",
        help="A host that proves a part of every proof, by its queue; repeat it (default: this process).",
    ),
    click.option(
        "--tasks",
        type=click.Choice(["grouped", "each"]),
        default="grouped",
        show_default=True,
        help="In Prefect's UI: short proofs several to a task, or each with its own.",
    ),
    click.option(
        "--name", help='Follows circuit and count in the run\'s name, as in "merkle ×12 · nightly".'
    ),
    click.option(
        "--output",
        type=click.Path(path_type=Path),
        metavar="FOLDER",
        help="For the proofs (default: one of the run's own).",
    ),
    click.option(
        "--on-failure",
        type=click.Choice(["continue", "stop"]),
        default="continue",
        show_default=True,
        help="Whether the others go on after a proof that failed for good.",
    ),
)


def batch_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that describe a batch, real or simulated; the command gets them as BatchParameters."""

    @functools.wraps(command)
    def gather(config_path: Path | None, circuit: str | None, **options: Any) -> None:
        from flows.parameters.batch import BatchParameters, batch_parameters

        if options.get("resume") is not None:
            _refuse_beside_resume({"circuit": circuit, **options})
        elif circuit is None:
            raise click.MissingParameter(param_hint="'--type'", param_type="option")
        own = {name: options.pop(name) for name in options.keys() - BatchParameters.model_fields.keys()}
        given = {name: value for name, value in options.items() if value is not None}
        command(batch_parameters(circuit=circuit or "", config=config_path, **given), **own)

    return with_options(gather, BATCH_OPTIONS)


def _refuse_beside_resume(options: dict[str, Any]) -> None:
    """What is proved is that of the run that is resumed."""
    for name in ("circuit", "count", "inputs", "partitions", "output"):
        if options[name]:
            option = "--type" if name == "circuit" else f"--{name}"
            raise click.UsageError(f"{option} is that of the run that --resume names; leave it out")


def with_options(command: Callable[..., None], options: Sequence[Callable[..., Any]]) -> Callable[..., None]:
    """The command with these options, in this order."""
    for option in reversed(options):
        command = option(command)
    return command


def real_batch_options(command: Callable[..., None]) -> Callable[..., None]:
    """Besides `batch_options`, those that only batches have that make proofs."""
    return with_options(command, REAL_BATCH_OPTIONS)


def check_inputs(*files: Path | None, streams: Sequence[Path] = ()) -> None:
    """Refuse what cannot be read, each by name, before anything slow is imported; None is skipped.

    streams: those that may come from the standard input or another pipe that is open already.
    """
    as_stream = {path: False for path in files if path is not None} | dict.fromkeys(streams, True)
    found = [(path, _unreadable(path, may)) for path, may in as_stream.items()]
    if unreadable := [f"{path}: {why}" for path, why in found if why is not None]:
        raise InputError("; ".join(unreadable))


def _unreadable(path: Path, as_stream: bool) -> str | None:
    """Why not, and what to do."""
    try:
        if (refusal := refusal_of_kind(path, as_stream=as_stream)) is not None:
            return refusal
        why = None if os.access(path, os.R_OK) else os.strerror(errno.EACCES)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        why = getattr(error, "strerror", None) or str(error)
    return why and f"cannot be read ({why}): check the path and permissions"


def available_cores() -> int:
    """Cores this process may run on, which a container or `taskset` may have made fewer."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def say(message: str) -> None:
    """A line for the person at the terminal: to stderr, so that stdout stays the result's."""
    print(message, file=sys.stderr, flush=True)


def counted(count: int, what: str) -> str:
    """A number of something whose plural ends in s: "1 run", "12,000 runs"."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def conclude(result: str, *written: Path) -> None:
    """Print a command's result: to stdout, unless that is one of the files that were written."""
    print(result, file=sys.stderr if any(map(is_stdout, written)) else sys.stdout)


def look_for_no_garbage() -> None:
    """For a short process: its imports make a million objects that stay, and it would look at them in vain.

    That takes a tenth of its time.
    """
    gc.disable()


def look_for_garbage_again() -> None:
    """From here on, and not among what is there by now."""
    gc.freeze()
    gc.enable()


def leave() -> NoReturn:
    """End the process now, with status 0.

    Taking apart the million objects that imports make costs a fifth of a second, for nothing:
    the commands that end so have closed their files and ended their threads.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    if (loaded := sys.modules.get("kernels.cache")) is not None:
        loaded.remove_stand_in()
    os._exit(0)


def program() -> str:
    """How this program is called from here: "cuzk" where the shell would find this very one."""
    here = Path(sys.argv[0])
    found = shutil.which("cuzk")
    same = found and here.exists() and Path(found).samefile(here)  # an upgrade may have taken it away
    return "cuzk" if same else shlex.quote(os.path.relpath(here))
