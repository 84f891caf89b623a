"""Kernels over vectors of field elements, each for the elements [start, stop) of its arrays.

F is a `Field` or `QuadraticField`; arrays are (n, L) or (n, 2, L), uint64, C-contiguous, in Montgomery form
unless said otherwise. `out` may be one of the inputs. Chunks of one vector may run side by side.

Eight elements at once where the processor can (`kernels.cpu.lanes`), else, and for a rest of fewer than
eight, one after the other in 64-bit limbs.
"""

from collections.abc import Callable

import numpy as np

from kernels.cpu import lane_vectors, vectors64
from kernels.cpu.lanes import LANES, LaneField, lanes_of
from kernels.cpu.vectors64 import first_not_below_modulus
from kernels.encoding import Limbs, ints_to_limbs
from kernels.fields import Field, QuadraticField

__all__ = [
    "first_not_below_modulus",
    "from_montgomery",
    "multiply",
    "multiply_subtract",
    "scale",
    "scale_by_powers",
    "to_montgomery",
]


def to_montgomery(F: Field | QuadraticField, out: Limbs, a: Limbs, start: int, stop: int) -> None:
    """out = a, from canonical integers below the modulus to Montgomery form."""
    factor = F.montgomery_r2 if isinstance(F, Field) else 0
    _split(F, _scale_by(factor), vectors64.to_montgomery, (out, a), start, stop)


def from_montgomery(F: Field | QuadraticField, out: Limbs, a: Limbs, start: int, stop: int) -> None:
    """out = a, from Montgomery form to canonical integers."""
    _split(F, _scale_by(1), vectors64.from_montgomery, (out, a), start, stop)


def multiply(F: Field | QuadraticField, out: Limbs, a: Limbs, b: Limbs, start: int, stop: int) -> None:
    """out = a·b, element by element."""
    _split(F, lane_vectors.multiply, vectors64.multiply, (out, a, b), start, stop)


def multiply_subtract(
    F: Field | QuadraticField, out: Limbs, a: Limbs, b: Limbs, c: Limbs, start: int, stop: int
) -> None:
    """out = a·b − c, element by element."""
    _split(F, lane_vectors.multiply_subtract, vectors64.multiply_subtract, (out, a, b, c), start, stop)


def scale(F: Field | QuadraticField, out: Limbs, a: Limbs, factor: Limbs, start: int, stop: int) -> None:
    """out = factor·a; factor is an array of one element."""
    _split(F, lane_vectors.scale, vectors64.scale, (out, a, factor), start, stop)


def scale_by_powers(
    F: Field | QuadraticField, out: Limbs, a: Limbs, first: Limbs, ratio: Limbs, start: int, stop: int
) -> None:
    """out[i] = a[i]·first·ratio^i, whatever the chunk; first and ratio are arrays of one element."""
    _split(F, _scale_by_powers, vectors64.scale_by_powers, (out, a, first, ratio), start, stop)


def _scale_by(factor: int) -> Callable[..., None]:
    """A kernel for lanes that takes the Montgomery product of every element and a number."""

    def kernel(F: LaneField, out: Limbs, a: Limbs, start: int, stop: int) -> None:
        lane_vectors.scale(F, out, a, ints_to_limbs([factor], F.words), start, stop)

    return kernel


def _scale_by_powers(
    F: LaneField, out: Limbs, a: Limbs, first: Limbs, ratio: Limbs, start: int, stop: int
) -> None:
    powers = np.empty((LANES + 1, F.words), np.uint64)
    vectors64.first_powers(F.field, powers, first, ratio, start)
    lane_vectors.scale_by_powers(F, out, a, powers, start, stop)


def _lanes(F: Field | QuadraticField) -> LaneField | None:
    """Pairs are multiplied one after the other: only preparations do it, and only few."""
    return lanes_of(F) if isinstance(F, Field) else None


def _split(
    F: Field | QuadraticField,
    eight: Callable[..., None],
    single: Callable[..., None],
    arrays: tuple[Limbs, ...],
    start: int,
    stop: int,
) -> None:
    """Whole groups of eight to one kernel, where the field has lanes, and the rest to the other."""
    lanes, middle = _lanes(F), start
    if lanes is not None:
        middle += (stop - start) // LANES * LANES
        if start < middle:
            eight(lanes, *arrays, start, middle)
    if middle < stop:
        single(F, *arrays, middle, stop)
