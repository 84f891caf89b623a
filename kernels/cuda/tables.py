"""Sums over points that stay the same: multiples of them, made once, let windows share their buckets.

Row r of a table holds 2^(r·sets·window_bits)·point, so windows w, w + sets, w + 2·sets, … put their entries
into one set of buckets (Brickell, Gordon, McCurley, Wilson, "Fast exponentiation with precomputation", 1992).
Fewer sets leave less to weigh, and so let windows be wider.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import cuda

from kernels.cpu.curve import fold
from kernels.cpu.windows import check_scalars, window_count
from kernels.cuda import curve
from kernels.cuda import field as f
from kernels.cuda.affine import to_affine
from kernels.cuda.digits import Windows
from kernels.cuda.launch import kernel, launch
from kernels.cuda.memory import Workspace, element_words
from kernels.cuda.msm import best_window_bits, sum_windows
from kernels.encoding import Limbs
from kernels.fields import Group
from kernels.parallel import chunks

POINTS_AT_A_TIME = 1 << 20
MOST_ENTRIES = 1 << 30  # sorted at once, in 12 bytes each; each part of them is weighed by itself


@dataclass(frozen=True)
class Table:
    """multiples: device, (rows, n, *point_shape), affine; `sets` of buckets serve windows of window_bits."""

    multiples: Any
    window_bits: int
    sets: int


@kernel
def _double(F: Any, points: Any, doublings: int, out: Any) -> None:
    """XYZZ point i of out = 2^doublings·(affine point i)."""
    i = cuda.grid(1)
    if i < points.shape[0]:
        total = curve.add_affine(F, curve.infinity(F), f.load(F, points, 2 * i), f.load(F, points, 2 * i + 1))
        for _ in range(doublings):
            total = curve.double(F, total)
        curve.store_point(F, out, i, total)


def make_table(G: Group, points: Any, rows: int, workspace: Workspace, window_bits: int = 0) -> Table:
    """The table of points: device, (n, *G.point_shape), affine in Montgomery form; `rows` times their memory.

    rows: from 1 to the number of windows, with which one set of buckets is left. window_bits: 0 to choose.
    """
    n = points.shape[0]
    bits = window_bits or best_window_bits(n, G.order, rows)
    sets = -(-window_count(G.order, bits) // rows)
    rows = -(-window_count(G.order, bits) // sets)
    multiples = cuda.device_array((rows, *points.shape), np.uint64)
    multiples[0].copy_to_device(points)
    sums = workspace.array("doubled points", (4 * min(n, POINTS_AT_A_TIME), element_words(G.field)), "uint64")
    for row in range(1, rows):
        for first in range(0, n, POINTS_AT_A_TIME):
            before, after = (multiples[r][first : first + POINTS_AT_A_TIME] for r in (row - 1, row))
            launch(_double, before.shape[0], G.field, before, sets * bits, sums)
            to_affine(G.field, sums, after)
    return Table(multiples, bits, sets)


def msm_by_table(G: Group, table: Table, scalars: Any, workspace: Workspace) -> Limbs:
    """`msm.msm` of a table's points, as many as there are scalars."""
    (rows, n), bits, sets = table.multiples.shape[:2], table.window_bits, table.sets
    count = window_count(G.order, bits)
    check_scalars(scalars, n)
    parts = []
    for low, high in chunks(rows, -(-count * n // MOST_ENTRIES)):
        windows = Windows(bits, count, low * sets, min(high * sets, count), sets)
        points = table.multiples[low:high].reshape(-1, *G.point_shape)
        parts.append(sum_windows(G.field, points, scalars, windows, workspace).reshape(sets * bits, 8, -1))
    sums = np.concatenate(parts, axis=1)
    return fold(G, sums.reshape(-1, sums.shape[2]), 2 * len(parts), 1)
