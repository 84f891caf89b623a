"""`cuzk bench synth`: synthesis alone."""

from __future__ import annotations

from pathlib import Path

import click

from cli.bench.in_process import circuit_options, iterations_option, measured, show, spread_lines
from cli.options import available_cores, say


@click.command(short_help="Time synthesis alone, in this process.")
@iterations_option(3)
@circuit_options
def synth(
    circuit: str,
    inputs: Path | None,
    iterations: int,
    threads: int | None,
    config_path: Path | None,
    as_json: bool,
) -> None:
    """Calculate or read the witness and make a, b and c from it, again and again: no proof, GPU or daemon.

    The first line is of one run, and what half of several took.
    """
    from bench.circuit import opened_circuit
    from bench.synth import time_synthesis
    from config import format_size, load_config

    config, threads = load_config(config_path), threads or available_cores()
    opened = opened_circuit(circuit, config, inputs, say)
    plan = {"circuit": circuit, "iterations": iterations, "threads": threads}
    with measured(f"{circuit}, synthesis ×{iterations}", config, plan) as run:
        found = time_synthesis(opened, iterations, threads, run.say)
        size = f"{found.rows} rows, {found.terms} terms, matrices and roots {format_size(found.pce_bytes)}"
        lines = [
            f"{circuit}: {size}; {threads} threads",
            *spread_lines(found.seconds),
            f"{found.terms_a_second / 1e6:.1f} million terms a second",
        ]
        show(run, found, lines, as_json)
