"""circomlib's SHA-256, compiled by circom: what real circuits look like.

Both are npm packages (`npm ci` installs them). The smaller size hashes 64 bytes, the larger 256.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.contestants.process import ROOT
from groth16.errors import InputError
from groth16.witness import write_witness
from kernels.fields import Curve

NODE_MODULES = ROOT / "node_modules"
CIRCOM = NODE_MODULES / "circom2/cli.js"
MESSAGE_BITS = {62_528: 512, 156_320: 2048}  # by constraints
SEED = 20_11  # of the message


def sha256_available() -> bool:
    return CIRCOM.exists() and (NODE_MODULES / "circomlib").exists()


def compile_sha256(curve: Curve, n_constraints: int, r1cs: Path, wtns: Path) -> None:
    """Write circuit and witness. Raises InputError for another size, or if circom fails."""
    # Here, since what the calculator runs on need not be installed where the files are there already.
    from groth16.witness_calculator import WitnessCalculator

    if n_constraints not in MESSAGE_BITS:
        sizes = ", ".join(map(str, MESSAGE_BITS))
        raise InputError(f"sha256:{n_constraints}: there is none of this size, only of {sizes} constraints")
    message = np.random.default_rng(SEED).integers(0, 2, MESSAGE_BITS[n_constraints])
    with tempfile.TemporaryDirectory(prefix="cuzk-circom-") as name:
        folder = Path(name)
        _compile(curve, len(message), folder)
        witness = WitnessCalculator(folder / "sha256_js/sha256.wasm").calculate({"in": message.tolist()})
        write_witness(wtns, witness)
        shutil.move(folder / "sha256.r1cs", r1cs)


def _compile(curve: Curve, message_bits: int, folder: Path) -> None:
    # The compiler is WebAssembly and sees nothing outside its folder.
    shutil.copytree(NODE_MODULES / "circomlib", folder / "circomlib")
    (folder / "sha256.circom").write_text(
        "pragma circom 2.0.0;\n"
        'include "circomlib/circuits/sha256/sha256.circom";\n'
        f"component main = Sha256({message_bits});\n"
    )
    command = ["node", str(CIRCOM), "sha256.circom", "--r1cs", "--wasm", "--prime", curve.snarkjs_name]
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    if done.returncode:
        raise InputError(f"circom does not compile circomlib's SHA-256: {done.stdout} {done.stderr}")
