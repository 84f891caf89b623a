"""Compiling kernels before they are needed: every step calls, on a few elements, what proofs call on many.

A kernel is compiled for the types that it is called with, so the steps make their calls through the same
functions as the rest of the program. What a proof needs and no step calls is compiled when a proof comes.
"""

import os
import sys
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Any

import numpy as np

from kernels.cache import UNKEPT, failed_save
from kernels.cpu.curve import add_points, first_not_on_curve, in_subgroup, multiply_point, negate_point
from kernels.cpu.fixed_base import multiply_generator
from kernels.cpu.msm import msm
from kernels.cpu.ntt import Domain
from kernels.cpu.pairing import pairing_product_is_one
from kernels.cpu.spmv import add_products, sum_units
from kernels.cpu.vectors import from_montgomery, multiply, multiply_subtract, scale_by_powers, to_montgomery
from kernels.encoding import Limbs, encode_points, ints_to_limbs
from kernels.fields import CURVES, Curve, Group
from kernels.parallel import serial

ROWS = 21  # some for lanes, and a rest
LARGE_LOG2_SIZE, SMALL_LOG2_SIZE = 9, 2  # domains of either kind of transform, and of bit reversal


def _values(n: int = ROWS) -> Limbs:
    return np.tile(ints_to_limbs([3], 4), (n, 1))


def _points(G: Group, n: int) -> Limbs:
    return np.tile(encode_points(G, [G.generator]), (n, *[1] * len(G.point_shape)))


def _scalars(G: Group, n: int) -> Limbs:
    """Of every kind, as `msm` tells them apart."""
    return ints_to_limbs([(1, 7 + i, G.order - 1, G.order // (i + 3))[i % 4] for i in range(n)], 4)


def _matrix_products(curve: Curve) -> None:
    fr, out, x = curve.fr, _values(), _values()
    starts, columns = np.arange(ROWS + 1, dtype=np.int64), np.arange(ROWS, dtype=np.uint32)
    sum_units(fr, out, starts, columns.astype(np.int32), x, 0, ROWS)
    add_products(fr, out, starts, columns, _values(), x, 0, ROWS)
    multiply(fr, out, x, x, 0, ROWS)
    multiply_subtract(fr, out, x, x, x, 0, ROWS)
    from_montgomery(fr, out, x, 0, ROWS)


def _transforms(curve: Curve) -> None:
    for log2_size in (LARGE_LOG2_SIZE, SMALL_LOG2_SIZE):
        Domain(curve.fr, log2_size).to_odd_coset(_values(1 << log2_size), serial)


def _inverse_transforms(curve: Curve) -> None:
    for log2_size in (LARGE_LOG2_SIZE, SMALL_LOG2_SIZE):
        Domain(curve.fr, log2_size).inverse(_values(1 << log2_size), serial)
    to_montgomery(curve.fr, _values(), _values(), 0, ROWS)
    scale_by_powers(curve.fr, _values(), _values(), _values(1), _values(1), 0, ROWS)


def _sums(G: Group) -> None:
    for n in (ROWS, 512):
        msm(G, _points(G, n), _scalars(G, n), serial)


def _points_and_pairing(curve: Curve) -> None:
    for G in (curve.g1, curve.g2):
        first_not_on_curve(G, _points(G, ROWS), 0, ROWS)
        in_subgroup(G, _points(G, 1)[0])
        point = multiply_point(G, _points(G, 1)[0], 5)
        add_points(G, point, negate_point(G, point))
    pairing_product_is_one(curve, _points(curve.g1, 4), _points(curve.g2, 4))


def _multiples(G: Group) -> None:
    for n in (1, 512):
        multiply_generator(G, _scalars(G, n), serial)


Step = Callable[[Curve], Any]
STEPS: dict[str, dict[str, Step]] = {
    "prove": {
        "sums in G2": lambda curve: _sums(curve.g2),
        "sums in G1": lambda curve: _sums(curve.g1),
        "transforms": _transforms,
        "points and pairing": _points_and_pairing,
        "matrix products": _matrix_products,
    },
    "verify": {"points and pairing": _points_and_pairing, "sums in G1": lambda curve: _sums(curve.g1)},
    "setup": {
        "multiples in G2": lambda curve: _multiples(curve.g2),
        "multiples in G1": lambda curve: _multiples(curve.g1),
        "inverse transforms": _inverse_transforms,
        "matrix products": _matrix_products,
    },
}
"""By what they are for, the longest first. A proof is verified as well."""


def steps_of(purpose: str) -> dict[str, Step]:
    """The steps by name, the longest first. "gpu" is what proofs take on a GPU; it loads CUDA."""
    if purpose == "gpu":
        from kernels.cuda import warmup

        return warmup.STEPS
    return STEPS[purpose]


def work() -> None:
    """A process that compiles: a line of stdin is "CURVE PURPOSE STEP", and a line of stdout says it is done.

    Where a kernel could not be kept that line goes on with `UNKEPT` and why.

    It ends with its input, and so with the process that asked, also in the middle of a step.
    """
    lines: SimpleQueue[str] = SimpleQueue()
    Thread(target=_read, args=(lines,), daemon=True).start()
    while True:
        line = lines.get()
        curve, purpose, step = line.split(" ", 2)
        steps_of(purpose)[step](CURVES[curve])
        unkept = failed_save()
        print(line if unkept is None else f"{line}{UNKEPT}{unkept}", flush=True)


def _read(lines: SimpleQueue[str]) -> None:
    for line in sys.stdin:
        lines.put(line.strip())
    os._exit(0)
