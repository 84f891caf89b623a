"""`cuzk bench pce`: what matrices that are made once buy over constraints one by one."""

from __future__ import annotations

from pathlib import Path

import click

from cli.bench.in_process import circuit_options, iterations_option, measured, show, spread_lines
from cli.options import available_cores, say


@click.command(short_help="Compare synthesis by matrices with constraint by constraint.")
@iterations_option(3)
@click.option(
    "--validate/--no-validate",
    default=True,
    show_default=True,
    help="Compare a, b and c of both ways, value by value.",
)
@click.option(
    "--save-pce",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Keep the matrices as they are in memory.",
)
@circuit_options
def pce(
    circuit: str,
    inputs: Path | None,
    iterations: int,
    validate: bool,
    save_pce: Path | None,
    threads: int | None,
    config_path: Path | None,
    as_json: bool,
) -> None:
    """Make a, b and c in both ways, from the same witness.

    By matrices: those of the key, extracted once, times the witness. Constraint by constraint: each
    evaluated as its turn comes in the circuit's .r1cs, by one thread, since where one begins only its
    predecessors tell. Matrices are timed with one thread as well.
    """
    from bench.circuit import opened_circuit
    from bench.pce import compare_ways
    from config import format_size, load_config

    config, threads = load_config(config_path), threads or available_cores()
    opened = opened_circuit(circuit, config, inputs, say)
    plan = {"circuit": circuit, "iterations": iterations, "threads": threads}
    with measured(f"{circuit}, PCE against constraint by constraint", config, plan) as run:
        found = compare_ways(opened, iterations, threads, run.say, validate=validate, save=save_pce)
        equal = "a, b and c are the same in both" if found.equal else "a, b and c were not compared"
        sizes = f"matrices {format_size(found.matrices_bytes)}, constraints {format_size(found.stream_bytes)}"
        lines = [
            f"{circuit}: {found.constraints} constraints, {found.terms} terms; {sizes}; {threads} threads",
            *spread_lines(found.seconds),
            f"matrices are {found.gain:.1f} times as fast, {found.gain_alone:.1f} times with one thread",
            equal,
        ]
        show(run, found, lines, as_json)
