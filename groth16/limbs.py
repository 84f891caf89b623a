"""Checks of limb arrays by numpy alone, at memory speed, so that reading a file loads no kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groth16.container import Container
from groth16.errors import InputError
from kernels.fields import Curve, Field, curve_of_scalar_modulus

_ROWS_AT_ONCE = 1 << 16
_LONGEST_FIELD_BYTES = 64


def first_not_below(values: NDArray[np.uint64], modulus: int) -> int | None:
    """Index of the first row of (n, L) little-endian limbs that is not below the modulus, None without one.

    Few rows' highest limb reaches the modulus's, except where there are many small negative numbers.
    """
    limbs = [np.uint64(modulus >> 64 * i & 0xFFFFFFFFFFFFFFFF) for i in range(values.shape[1])]
    for start in range(0, len(values), _ROWS_AT_ONCE):
        block = values[start : start + _ROWS_AT_ONCE]
        close = np.flatnonzero(block[:, -1] >= limbs[-1])
        not_below = np.ones(len(close), bool)
        for column, limb in zip(block[close].T, limbs, strict=True):  # the last, highest limb decides
            not_below = (column > limb) | ((column == limb) & not_below)
        if not_below.any():
            return start + int(close[not_below.argmax()])
    return None


def scalar_field_in_head(container: Container, number: int, start: int = 0) -> tuple[Curve, int]:
    """The curve whose scalar modulus (byte length u32, then the number) stands at `start` of a section.

    Returns it with the position after the modulus. Raises InputError for a field of no supported curve.
    """
    length = int.from_bytes(container.read(number, start, start + 4), "little")
    if length > _LONGEST_FIELD_BYTES:
        raise container.wrong(number, f"stores field elements in {length} bytes, expected 32")
    stop = start + 4 + length
    modulus = int.from_bytes(container.read(number, start + 4, stop), "little")
    curve = curve_of_scalar_modulus(modulus)
    if curve is None:
        raise container.wrong(number, f"names the field of modulus {modulus}, expected bn254's or bls12381's")
    if length != curve.fr.element_bytes:
        raise container.wrong(
            number, f"stores field elements in {length} bytes, expected {curve.fr.element_bytes}"
        )
    return curve, stop


def expect_modulus(found: int, field: Field, where: str) -> None:
    """Raise InputError unless the field is the expected one; `where` begins the message."""
    if found != field.modulus:
        raise InputError(f"{where} has the modulus {found}, expected {field.modulus} ({field.name})")
