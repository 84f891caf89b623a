"""Circuits that come with the program, to try it with; sources beside what circom made of them.

`CIRCUITS` is all of it: names to files. `make examples` compiles them again.
"""

from dataclasses import dataclass
from pathlib import Path

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class BundledCircuit:
    """A circuit's files: constraints, witness calculator, and an input that satisfies it."""

    name: str
    r1cs: Path
    wasm: Path
    inputs: Path


def _bundled(circuit: str, curve: str) -> BundledCircuit:
    folder = _HERE / circuit / curve
    name = circuit if curve == "bn254" else f"{circuit}-{curve}"
    return BundledCircuit(name, folder / f"{circuit}.r1cs", folder / f"{circuit}.wasm", folder / "input.json")


CIRCUITS: dict[str, BundledCircuit] = {
    bundled.name: bundled
    for bundled in (
        _bundled(circuit, curve) for curve in ("bn254", "bls12381") for circuit in ("multiplier", "merkle")
    )
}
