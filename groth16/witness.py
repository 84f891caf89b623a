"""Witnesses in iden3's .wtns format: the value of every wire of a circuit. They are secrets.

Layout: section 1 has the byte length of an element u32, the modulus and the number of values u32; section 2
the values, canonical and little-endian.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groth16.container import Container, read_container
from groth16.container_writer import payload, write_container
from groth16.errors import InputError
from groth16.limbs import first_not_below, scalar_field_in_head
from groth16.opening import open_to_read
from kernels.fields import Curve

_FIRST_BYTES = 64
_SECTIONS = {1: "header", 2: "values"}


@dataclass(frozen=True)
class Witness:
    """values: (n_wires, 4) uint64 limbs, canonical, below the modulus; values[0] is 1. Never printed."""

    curve: Curve
    values: NDArray[np.uint64] = field(repr=False)

    def __post_init__(self) -> None:
        """Raises InputError for a value not below the modulus, by index, and a first value other than 1."""
        if len(self.values) == 0 or self.values[0].tolist() != [1, 0, 0, 0]:
            raise InputError(
                "the witness's first value is not 1: it was not made for a circuit of this format"
            )
        if (index := first_not_below(self.values, self.curve.fr.modulus)) is not None:
            raise InputError(f"value {index} of the witness is not below the modulus of {self.curve.fr.name}")


def read_witness(path: str | Path) -> Witness:
    """Read a witness. Raises InputError, naming the file, for whatever it or `Witness` cannot accept."""
    _refuse_json(Path(path))
    container = read_container(path, "wtns", 2, _SECTIONS)
    curve, position = scalar_field_in_head(container, 1)
    n_values = int.from_bytes(container.read(1, position, position + 4), "little")
    return _checked(container, curve, container.read_array(2, (n_values, curve.fr.limbs)))


def _refuse_json(path: Path) -> None:
    """Inputs in a witness's place are the likeliest mistake, and "begins with" no help against it."""
    if not path.is_file():
        return
    with open_to_read(path) as file:
        first = file.read(_FIRST_BYTES).removeprefix(BOM_UTF8).lstrip()
    if first.startswith(b"{"):
        raise InputError(
            f"{path}: is JSON, expected a witness (.wtns): to prove from inputs give the circuit's .wasm, "
            "with --wasm FILE or as wasm in the settings"
        )


def _checked(container: Container, curve: Curve, values: NDArray[np.uint64]) -> Witness:
    try:
        return Witness(curve, values)
    except InputError as error:
        raise InputError(f"{container.path}: {error}") from error


def write_witness(path: str | Path, witness: Witness) -> None:
    """Write a witness as circom's and snarkjs's calculators do. Raises InputError if that is impossible."""
    fr = witness.curve.fr
    head = fr.element_bytes.to_bytes(4, "little") + fr.modulus.to_bytes(fr.element_bytes, "little")
    count = len(witness.values).to_bytes(4, "little")
    write_container(path, "wtns", 2, [payload(1, head, count), payload(2, witness.values)], aligned=False)
