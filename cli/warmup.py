"""`cuzk warmup`: compile kernels before they are needed."""

from __future__ import annotations

import time

import click

from cli.options import conclude, leave, say

CURVES = ("bn254", "bls12381")
PURPOSES = ("prove", "verify", "setup", "gpu")


@click.command(short_help="Compile all kernels now, for instance into an image.")
@click.option("--curve", type=click.Choice(CURVES), help="Only for this curve (default: for both).")
@click.option(
    "--for", "purpose", type=click.Choice(PURPOSES), help="Only for this purpose (default: for all there is)."
)
def warmup(curve: str | None, purpose: str | None) -> None:
    """Compile the kernels of proofs, their checks and setups, for GPUs if there are any, on all cores.

    Without it the first command that needs them does so. They are kept in $CUZK_HOME, else in
    ~/.cache/cuzk, for this version and this kind of processor. Keeps the bytecode of Python's
    modules as well, beside them, where an installer or PYTHONDONTWRITEBYTECODE left it out.
    """
    started_s = time.monotonic()

    from engine.bytecode import keep_bytecode
    from engine.compiling import compile_ahead, purposes_here
    from engine.errors import EngineError
    from kernels.cache import unwritable_folder

    if (unwritable := unwritable_folder()) is not None:
        raise EngineError(f"{unwritable}: cannot be written; set CUZK_HOME to a folder that can")
    curves = CURVES if curve is None else (curve,)
    purposes = purposes_here(PURPOSES) if purpose is None else purposes_here([purpose], wanted=True)
    if purpose == "gpu":
        purposes.append("prove")  # the processors end a GPU's proofs
    compiled = compile_ahead([(each, name) for name in curves for each in purposes], say)
    keep_bytecode()
    done = "compiled" if compiled else "already compiled; loaded"
    conclude(f"kernels for {' and '.join(curves)} {done} in {time.monotonic() - started_s:.1f} s")
    leave()
