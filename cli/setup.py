"""`cuzk setup`: a proving key for development."""

from __future__ import annotations

from pathlib import Path

import click

from cli.options import (
    INPUT_FILE,
    OUTPUT_FILE,
    available_cores,
    check_inputs,
    conclude,
    leave,
    look_for_no_garbage,
    say,
    threads_option,
)

UNSAFE = (
    "this key is for development only: whoever runs a single-party setup could forge proofs; "
    "use a multi-party ceremony in production"
)


@click.command(short_help="Make a proving key for development; unsafe in production.")
@click.argument("r1cs", type=INPUT_FILE, metavar="CIRCUIT.r1cs")
@click.option("--output", "-o", type=OUTPUT_FILE, required=True, metavar="CIRCUIT.zkey", help="Key to write.")
@threads_option
@click.option(
    "--device", type=click.IntRange(min=0), metavar="N", help="Let GPU N multiply (see `cuzk doctor`)."
)
def setup(r1cs: Path, output: Path, threads: int | None, device: int | None) -> None:
    """Make a proving key by a single-party setup. UNSAFE IN PRODUCTION.

    Whoever runs this command could forge proofs, because one machine has held the secret numbers
    that a ceremony of several parties would have kept from everybody. Use it for development and
    benchmarks.
    """
    check_inputs(r1cs)
    look_for_no_garbage()

    from engine.single import setup_file

    seconds = setup_file(
        r1cs,
        output,
        threads=threads or available_cores(),
        gpu=device,
        report=say,
        accepted=lambda: say(f"cuzk setup: {UNSAFE}"),
    )
    conclude(f"{output} written in {seconds:.1f} s", output)
    leave()
