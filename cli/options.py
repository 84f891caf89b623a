"""Options and small helpers that several commands share."""

from __future__ import annotations

import functools
import os
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

INPUT_FILE = click.Path(path_type=Path)  # existence is checked where the file is read, in one line
OUTPUT_FILE = click.Path(path_type=Path, dir_okay=False)

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
    type=click.IntRange(min=1),
    default=None,
    help="Threads that run kernels (default: every core this process may use).",
)


BATCH_OPTIONS = (
    click.option(
        "--type", "-t", "circuit", required=True, metavar="NAME", help="Circuit: configured or bundled."
    ),
    click.option("--count", "-c", type=click.IntRange(min=1), default=3, show_default=True, help="Proofs."),
    click.option(
        "--concurrency",
        "-j",
        type=click.IntRange(min=1),
        default=3,
        show_default=True,
        help="Proofs submitted at a time; the memory budget decides how many of them run.",
    ),
    click.option(
        "--budget", metavar="SIZE", help='Memory for everything, as "2GiB" (default: the settings\').'
    ),
    click.option(
        "--partitions",
        type=click.IntRange(min=1),
        help="Groth16 proofs that make up one proof (default: the circuit's).",
    ),
    config_option,
)


def batch_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that describe a batch, real or simulated; the command gets them as BatchParameters."""

    @functools.wraps(command)
    def gather(config_path: Path | None, **options: Any) -> None:
        from flows.batch import BatchParameters

        own = {name: options.pop(name) for name in options.keys() - BatchParameters.model_fields.keys()}
        command(BatchParameters(config=config_path, **options), **own)

    for option in reversed(BATCH_OPTIONS):
        gather = option(gather)
    return gather


def available_cores() -> int:
    """Cores this process may run on, which a container or `taskset` may have made fewer."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def say(message: str) -> None:
    """A line for the person at the terminal: to stderr, so that stdout stays the result's."""
    print(message, file=sys.stderr, flush=True)


def program() -> str:
    """How this program is called from here: "cuzk" where the shell would find this very one."""
    here = Path(sys.argv[0])
    found = shutil.which("cuzk")
    same = found and Path(found).exists() and Path(found).samefile(here)
    return "cuzk" if same else shlex.quote(os.path.relpath(here))
