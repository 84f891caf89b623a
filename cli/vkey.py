"""`cuzk vkey`: the verification key of a proving key."""

from __future__ import annotations

from pathlib import Path

import click

from cli.options import INPUT_FILE, OUTPUT_FILE, check_inputs, conclude, leave, look_for_no_garbage, say
from groth16.output import check_outputs


@click.command(short_help="Write the verification key of a proving key.")
@click.argument("zkey", type=INPUT_FILE, metavar="CIRCUIT.zkey")
@click.option(
    "--output",
    "-o",
    type=OUTPUT_FILE,
    default="verification_key.json",
    show_default=True,
    metavar="FILE",
    help="Verification key to write.",
)
def vkey(zkey: Path, output: Path) -> None:
    """Write the verification key that belongs to a proving key, as snarkjs does."""
    check_inputs(zkey)
    check_outputs([output], [zkey])
    look_for_no_garbage()

    from engine.compiling import compile_for_key
    from groth16.verification_key import read_verification_key_of, write_verification_key

    compile_for_key(zkey, say, "verify")
    write_verification_key(output, read_verification_key_of(zkey))
    conclude(f"{output} written", output)
    leave()
