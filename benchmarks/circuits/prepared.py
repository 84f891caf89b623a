"""Circuits by name, their files and keys: made once, and kept for the next run."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.circuits.bits import bits
from benchmarks.circuits.dense import dense
from benchmarks.circuits.files import Files, Instance, write_instance
from benchmarks.circuits.sha256 import compile_sha256, sha256_available
from benchmarks.circuits.shaped import POREP_KINDS
from kernels.fields import CURVES, Curve

GENERATED: dict[str, Callable[[Curve, int], Instance]] = {"dense": dense, "bits": bits, **POREP_KINDS}
NAMES = (*GENERATED, "sha256")


@dataclass(frozen=True)
class Circuit:
    """What to prove: which kind of circuit, its number of constraints, and on which curves."""

    name: str
    constraints: int
    curves: tuple[str, ...] = tuple(CURVES)

    @classmethod
    def parse(cls, text: str) -> Circuit:
        """From "dense:130000" or "dense:130000:bn254". Raises ValueError with what was expected."""
        name, size, *curves = f"{text}:".split(":", 2)
        curve = curves[0].removesuffix(":") if curves else ""
        if name not in NAMES or not size.isdecimal() or int(size) == 0 or curve not in ("", *CURVES):
            raise ValueError(
                f"{text!r}: expected KIND:CONSTRAINTS or KIND:CONSTRAINTS:CURVE, such as dense:1000:bn254; "
                f"kinds are {', '.join(NAMES)}, curves {', '.join(CURVES)}"
            )
        return cls(name, int(size), (curve,) if curve else tuple(CURVES))


def default_folder() -> Path:
    """Beside the compiled kernels: below $CUZK_HOME, else in the user's cache folder."""
    home = os.environ.get("CUZK_HOME")
    caches = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return (Path(home) if home else caches / "cuzk") / "benchmarks"


def prepare(circuit: Circuit, curve: Curve, folder: Path, report: Callable[[str], None]) -> Files:
    """Make circuit and witness, unless they are in the folder; the key is only named.

    Where circom or circomlib is missing, a circuit of bits of the same size stands in for SHA-256.
    """
    name = circuit.name
    files = _files(name, circuit, curve, folder)
    if name == "sha256" and not files.r1cs.exists() and not sha256_available():
        report("no circom2 and circomlib in node_modules (`npm ci`): `bits` stands in for `sha256`")
        name = "bits"
        files = _files(name, circuit, curve, folder)
    if not (files.r1cs.exists() and files.wtns.exists()):
        report(f"making {files.r1cs.name}")
        folder.mkdir(parents=True, exist_ok=True)
        if name == "sha256":
            compile_sha256(curve, circuit.constraints, files.r1cs, files.wtns)
        else:
            write_instance(GENERATED[name](curve, circuit.constraints), files.r1cs, files.wtns)
    return files


def _files(name: str, circuit: Circuit, curve: Curve, folder: Path) -> Files:
    stem = f"{name}-{circuit.constraints}-{curve.name}"
    paths = (folder / f"{stem}.{suffix}" for suffix in ("r1cs", "wtns", "zkey"))
    return Files(name, circuit.constraints, curve.name, *paths)
