"""`cuzk top`: what a daemon takes, live: memory, threads and processors by pool, GPUs."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.options import config_option, say
from cli.streams import is_read

if TYPE_CHECKING:
    from rich.table import Table

    from bench.monitor import ProcessSample, Target


@click.command(short_help="Show live what a daemon takes: memory, threads, processors, GPUs.")
@click.option("--addr", "-a", metavar="ADDRESS", help="What it listens on (default: daemon.listen's).")
@click.option(
    "--pid-file", type=click.Path(path_type=Path), metavar="FILE", help="Find it by this file instead."
)
@click.option("--pid", type=click.IntRange(min=1), help="Watch this process, whatever it is.")
@click.option(
    "--interval",
    "interval_s",
    type=click.FloatRange(0.1, 60),
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    help="Between two looks.",
)
@click.option("--once", is_flag=True, help="Look twice, print what the second look tells, and end.")
@click.option("--json", "as_json", is_flag=True, help="Print each look as a JSON object a line.")
@config_option
def top(
    addr: str | None,
    pid_file: Path | None,
    pid: int | None,
    interval_s: float,
    once: bool,
    as_json: bool,
    config_path: Path | None,
) -> None:
    """Show what the daemon of this machine takes, until it ends, nobody reads it, or Ctrl-C.

    RSS counts the pages of mapped keys, "files" tells how many those are, and the proportional share
    divides pages by how many processes have them. A pool's cores are the processors that it kept busy.
    """
    if sum(each is not None for each in (addr, pid_file, pid)) > 1:
        raise click.UsageError("--addr, --pid-file and --pid name one process in three ways; give one")
    target = _target(addr, pid_file, pid, config_path)
    if not as_json:
        say(f"process {target.pid}, {target.found_by}")
    if as_json or once:
        _print_looks(target, interval_s, 2 if once else None, as_json)
    else:
        _show(target, interval_s)


def _target(addr: str | None, pid_file: Path | None, pid: int | None, config_path: Path | None) -> Target:
    from bench.monitor import by_address, by_pid, by_pid_file

    if pid_file is not None:
        return by_pid_file(pid_file)
    if pid is not None:
        return by_pid(pid)
    if addr is None:
        from config import load_config

        addr = load_config(config_path, warn=lambda _: None).daemon.listen
    return by_address(addr)


def _print_looks(target: Target, interval_s: float, count: int | None, as_json: bool) -> None:
    from bench.monitor import Look
    from cli.table import print_parts

    look, taken = Look(target), 0
    try:
        while is_read(1) and (count is None or taken < count):
            if taken:
                time.sleep(interval_s)
            sample, taken = look.take(), taken + 1
            if as_json and (count is None or taken == count):
                print(json.dumps(sample.as_dict()), flush=True)
            elif taken == count:
                print_parts(_table(sample), *_words(sample))
        if not as_json:
            for each in look.unknown:
                say(f"not known: {each}")
    finally:
        look.close()


def _show(target: Target, interval_s: float) -> None:
    from rich.console import Group
    from rich.live import Live

    from bench.monitor import Monitor
    from cli.table import console

    shown = console()
    with ExitStack() as stack:
        live = stack.enter_context(Live(console=shown, auto_refresh=False))
        monitor = stack.enter_context(
            Monitor(
                target,
                [lambda sample: live.update(Group(_table(sample), *_words(sample)), refresh=True)],
                live.console.print,
                interval_s,
            )
        )
        while monitor.ended is None and is_read(1):
            time.sleep(0.1)


def _table(sample: ProcessSample) -> Table:
    from cli.table import table

    made = table("pool", "threads", "cores", right=("threads", "cores"))
    for pool, use in sorted(sample.pools.items(), key=lambda each: (-each[1].cores, each[0])):
        made.add_row(pool, str(use.threads), f"{use.cores:.2f}")
    made.add_row("all", str(sample.threads), f"{sample.cores:.2f}")
    return made


def _words(sample: ProcessSample) -> list[str]:
    from config import format_size

    pss = "–" if sample.pss_bytes is None else format_size(sample.pss_bytes)
    lines = [
        f"RSS {format_size(sample.rss_bytes)}, of it files {format_size(sample.file_bytes)}; "
        f"proportional share {pss}"
    ]
    for gpu in sample.gpus:
        own = "–" if gpu.process_bytes is None else format_size(gpu.process_bytes)
        used, total = format_size(gpu.used_bytes), format_size(gpu.total_bytes)
        lines.append(f"{gpu.name}: the process has {own}, all together {used} of {total}")
    return lines
