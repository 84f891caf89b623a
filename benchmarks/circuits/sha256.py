"""circomlib's SHA-256, compiled by circom: what real circuits look like.

Both are npm packages (`npm ci` installs them). The smaller size hashes 64 bytes, the larger 256.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np

from benchmarks.contestants.process import ROOT
from groth16.witness import write_witness
from groth16.witness_calculator import WitnessCalculator
from kernels.fields import Curve

CIRCOM = ROOT / "node_modules/circom2/cli.js"
CIRCOMLIB = ROOT / "node_modules/circomlib/circuits"
MESSAGE_BITS = {62_528: 512, 156_320: 2048}  # by constraints
SEED = 20_11  # of the message


def available() -> bool:
    return CIRCOM.exists() and CIRCOMLIB.exists()


def compile_sha256(curve: Curve, n_constraints: int, r1cs: Path, wtns: Path) -> None:
    """Write circuit and witness. Raises ValueError for another size, CalledProcessError if circom fails."""
    if n_constraints not in MESSAGE_BITS:
        raise ValueError(
            f"sha256:{n_constraints}: there is none of this size, only of {', '.join(map(str, MESSAGE_BITS))}"
        )
    message_bits = MESSAGE_BITS[n_constraints]
    source = r1cs.with_suffix(".circom")
    source.write_text(
        "pragma circom 2.0.0;\n"
        f'include "{CIRCOMLIB}/sha256/sha256.circom";\n'
        f"component main = Sha256({message_bits});\n"
    )
    command = ["node", str(CIRCOM), source.name, "--r1cs", "--wasm", "--prime", curve.snarkjs_name]
    subprocess.run(command, cwd=source.parent, check=True, capture_output=True)
    wasm = source.parent / f"{source.stem}_js/{source.stem}.wasm"
    message = np.random.default_rng(SEED).integers(0, 2, message_bits)
    write_witness(wtns, WitnessCalculator(wasm).calculate({"in": message.tolist()}))
