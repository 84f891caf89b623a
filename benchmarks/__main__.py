"""`python -m benchmarks`: measure; `python -m benchmarks report`: write what was measured."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path

import click

from benchmarks.circuits.prepared import Circuit, default_folder
from benchmarks.contestants.process import ContestantError
from benchmarks.results import Result, merged
from groth16.errors import InputError
from kernels.fields import CURVES

SUITES = {
    "products": "kernels.products",
    "msm": "kernels.msm",
    "ntt": "kernels.ntt",
    "pairing": "kernels.pairing",
    "spmv": "kernels.spmv",
    "setup": "keys.setup",
    "proofs": "proofs.proofs",
    "commands": "commands.commands",
    "start": "commands.start",
}
CIRCUITS = "sha256:62528,sha256:156320,dense:130000,dense:1048576"
QUICK_CIRCUITS = f"{CIRCUITS}:bn254"
BAD_INPUT = 2


def _circuits(_context: object, _parameter: object, text: str | None) -> tuple[Circuit, ...]:
    if text is None:
        return ()
    try:
        return _parse(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def _parse(text: str) -> tuple[Circuit, ...]:
    return tuple(Circuit.parse(each) for each in text.split(","))


def _sizes(_context: object, _parameter: object, text: str) -> tuple[int, ...]:
    parts = text.split(",")
    if not all(part.isdecimal() and 1 <= int(part) <= 24 for part in parts):
        raise click.BadParameter(f"{text!r}: expected powers of two from 1 to 24, such as 18,20")
    return tuple(map(int, parts))


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--only", type=click.Choice(list(SUITES)), multiple=True, help="Measure this; may be repeated.")
@click.option("--curve", type=click.Choice(list(CURVES)), multiple=True, help="Default: both.")
@click.option("--sizes", default="16,18,20", callback=_sizes, help="Points of sums, log₂. [16,18,20]")
@click.option("--circuits", callback=_circuits, help=f"KIND:CONSTRAINTS[:CURVE],… [{CIRCUITS}]")
@click.option("--threads", type=click.IntRange(min=1), default=2, help="Cores for everybody. [2]")
@click.option("--quick", is_flag=True, help="Fewer runs: minutes in place of half an hour.")
@click.option("--work", type=click.Path(path_type=Path), help="Where circuits and keys are kept.")
@click.option("--out", type=click.Path(path_type=Path), default="build/benchmarks", help="For the result.")
@click.pass_context
def cli(
    context: click.Context,
    only: tuple[str, ...],
    curve: tuple[str, ...],
    sizes: tuple[int, ...],
    circuits: tuple[Circuit, ...],
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
    from benchmarks.alternate import Effort
    from benchmarks.machine import machine
    from benchmarks.suites.bench import Bench, Plan

    curves = tuple(CURVES[name] for name in curve or CURVES)
    plan = (
        Plan(Effort(3, 6), sizes, 16, 20, 1 << 16, circuits or _parse(QUICK_CIRCUITS), 1, curves)
        if quick
        else Plan(Effort(7, 30), sizes, 24, 20, 1 << 16, circuits or _parse(CIRCUITS), 9, curves)
    )
    result = Result(machine(cores[:threads]))
    written = out / "result.json"

    def tell(message: str) -> None:
        print(message, file=sys.stderr, flush=True)
        result.write(written)  # what is there so far, should the rest take too long

    bench = Bench(plan, cores[:threads], cores, work or default_folder(), result, tell)
    for folder in (out, bench.folder):
        folder.mkdir(parents=True, exist_ok=True)
    for name in only or SUITES:
        module, _, suite = SUITES[name].partition(".")
        getattr(import_module(f"benchmarks.suites.{module}"), suite)(bench)
    result.write(written)
    print(written)


@cli.command()
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--to", type=click.Path(path_type=Path), default="docs/performance.md", help="Page to write.")
def report(results: tuple[Path, ...], to: Path) -> None:
    """Write the page and, beside it, the plot, from results of several machines.

    Results of one commit on one machine become one section.
    """
    from benchmarks.report import write_report

    try:
        write_report(merged([Result.read(path) for path in results]), to)
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    print(to)


def main() -> None:
    """Ends with 0, or with 2 and one line for what cannot be used."""
    try:
        cli.main(standalone_mode=False, prog_name="python -m benchmarks")
    except click.ClickException as error:
        _end(error.format_message())
    except (ContestantError, InputError, OSError) as error:
        _end(str(error))
    except (click.Abort, KeyboardInterrupt):
        _end("interrupted")


def _end(message: str) -> None:
    print("benchmarks: " + " ".join(message.split()), file=sys.stderr)
    sys.exit(BAD_INPUT)


if __name__ == "__main__":
    main()
