"""`python -m benchmarks`: measure; `python -m benchmarks report`: write what was measured."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from benchmarks.circuits.prepared import default_folder
from benchmarks.contestants.process import ContestantError
from benchmarks.results import Result, merged
from benchmarks.run import SUITES, plan, run
from groth16.errors import InputError
from kernels.fields import CURVES

CIRCUITS = "sha256:62528,sha256:156320,dense:130000,dense:1048574"
BAD_INPUT = 2
FILE = click.Path(path_type=Path)


def _sizes(_context: object, _parameter: object, text: str) -> tuple[int, ...]:
    parts = text.split(",")
    if not all(part.isdecimal() and 1 <= int(part) <= 24 for part in parts):
        raise click.BadParameter(f"{text!r}: expected powers of two from 1 to 24, such as 18,20")
    return tuple(map(int, parts))


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--only", type=click.Choice(list(SUITES)), multiple=True, help="Measure this; may be repeated.")
@click.option("--curve", type=click.Choice(list(CURVES)), multiple=True, help="Default: both.")
@click.option("--sizes", default="16,18,20", callback=_sizes, help="Points of sums, log₂. [16,18,20]")
@click.option("--circuits", help=f"KIND:CONSTRAINTS[:CURVE],… [{CIRCUITS}]")
@click.option("--threads", type=click.IntRange(min=1), default=2, help="Cores for everybody. [2]")
@click.option("--quick", is_flag=True, help="Fewer runs: minutes in place of half an hour.")
@click.option("--work", type=FILE, help="Where circuits and keys are kept.")
@click.option("--out", type=FILE, default="build/benchmarks", help="For the result.")
@click.pass_context
def cli(
    context: click.Context,
    only: tuple[str, ...],
    curve: tuple[str, ...],
    sizes: tuple[int, ...],
    circuits: str | None,
    threads: int,
    quick: bool,
    work: Path | None,
    out: Path,
) -> None:
    """Measure cuzk beside its peers and write OUT/result.json; `report` makes a page of such files."""
    if context.invoked_subcommand is not None:
        return
    cores = tuple(sorted(os.sched_getaffinity(0)))
    if threads > len(cores):
        raise click.BadParameter(f"{threads} threads want as many cores, this process may use {len(cores)}")
    try:
        curves = tuple(CURVES[name] for name in curve or CURVES)
        planned = plan(quick, sizes, circuits or (f"{CIRCUITS}:bn254" if quick else CIRCUITS), curves)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error
    print(run(planned, only or tuple(SUITES), threads, cores, work or default_folder(), out))


@cli.command()
@click.argument("results", nargs=-1, required=True, type=FILE)
@click.option("--to", type=FILE, default="docs/performance.md", help="Page to write.")
def report(results: tuple[Path, ...], to: Path) -> None:
    """Write the page and, beside it, the plot if matplotlib is there, from results of several machines.

    Results of one commit on one machine become one section.
    """
    from benchmarks.report import write_report

    try:
        plotted = write_report(merged([Result.read(path) for path in results]), to)
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    if not plotted:
        print("benchmarks: no plot without matplotlib: pip install -e '.[bench]'", file=sys.stderr)
    print(to)


def main() -> None:
    """Ends with 0, or with 2 and one line for what cannot be used."""
    try:
        cli.main(standalone_mode=False, prog_name="python -m benchmarks")
    except click.ClickException as error:
        _end(error.format_message())
    except (ContestantError, InputError, OSError) as error:
        _end(str(error))
    except (click.Abort, KeyboardInterrupt) as error:
        if isinstance(error.__cause__, EOFError):
            raise error.__cause__ from None  # a fault, which click takes for an interrupt
        _end("interrupted")


def _end(message: str) -> None:
    print("benchmarks: " + " ".join(message.split()), file=sys.stderr)
    sys.exit(BAD_INPUT)


if __name__ == "__main__":
    main()
