"""Sums over points that stay the same: multiples of them, made once, let windows share their buckets.

Row r of a table holds base^(r·sets)·point, so windows w, w + sets, w + 2·sets, … put their entries
into one set of buckets (Brickell, Gordon, McCurley, Wilson, "Fast exponentiation with precomputation", 1992).
Fewer sets leave less to weigh, and so let windows be wider.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import cuda

from kernels.cpu.curve import fold
from kernels.cpu.windows import check_scalars
from kernels.cuda import curve
from kernels.cuda import field as f
from kernels.cuda.affine import to_affine
from kernels.cuda.digits import Base, Windows
from kernels.cuda.launch import kernel, launch
from kernels.cuda.memory import Workspace, element_words
from kernels.cuda.msm import best_base, sum_windows
from kernels.encoding import Limbs
from kernels.fields import Group
from kernels.parallel import chunks

POINTS_AT_A_TIME = 1 << 20
MOST_ENTRIES = 1 << 30  # sorted at once, in 12 bytes each; each part of them is weighed by itself


@dataclass(frozen=True)
class Table:
    """multiples: device, (rows, n, *point_shape), affine; `sets` of buckets serve the base's digits.

    There is one set unless the base is a power of two.
    """

    multiples: Any
    base: Base
    sets: int


@kernel
def _multiply(F: Any, points: Any, factor: int, doublings: int, out: Any) -> None:
    """XYZZ point i of out = factor·2^doublings·(affine point i); the factor is odd and below 16."""
    i = cuda.grid(1)
    if i < points.shape[0]:
        total = curve.add_affine(F, curve.infinity(F), f.load(F, points, 2 * i), f.load(F, points, 2 * i + 1))
        for _ in range(doublings):
            total = curve.double(F, total)
        multiple = total
        for k in range(1, 4 if factor > 1 else 1):
            total = curve.double(F, total)
            if factor >> k & 1:
                multiple = curve.add(F, multiple, total)
        curve.store_point(F, out, i, multiple)


def make_table(G: Group, points: Any, rows: int, workspace: Workspace, base: Base | None = None) -> Table:
    """The table of points: device, (n, *G.point_shape), affine in Montgomery form; `rows` times their memory.

    rows: from 1 to the number of digits, with which one set of buckets is left. base: None to choose.
    """
    n = points.shape[0]
    base = base or best_base(n, G.order, rows)
    sets = -(-base.count // rows)
    rows = -(-base.count // sets)
    assert sets == 1 or base.factor == 1, "sets of buckets are put together by doublings"
    multiples = cuda.device_array((rows, *points.shape), np.uint64)
    multiples[0].copy_to_device(points)
    sums = workspace.array(
        "multiplied points", (4 * min(n, POINTS_AT_A_TIME), element_words(G.field)), "uint64"
    )
    for row in range(1, rows):
        for first in range(0, n, POINTS_AT_A_TIME):
            before, after = (multiples[r][first : first + POINTS_AT_A_TIME] for r in (row - 1, row))
            launch(_multiply, before.shape[0], G.field, before, base.factor, sets * base.shift, sums)
            to_affine(G.field, sums, after)
    return Table(multiples, base, sets)


def msm_by_table(G: Group, table: Table, scalars: Any, workspace: Workspace) -> Limbs:
    """`msm.msm` of a table's points, as many as there are scalars."""
    (rows, n), base, sets = table.multiples.shape[:2], table.base, table.sets
    check_scalars(scalars, n)
    parts = []
    for low, high in chunks(rows, -(-base.count * n // MOST_ENTRIES)):
        windows = Windows(base, low * sets, min(high * sets, base.count), sets)
        points = table.multiples[low:high].reshape(-1, *G.point_shape)
        part = sum_windows(G.field, points, scalars, windows, workspace)
        parts.append(part.reshape(sets * base.bits, 8, -1))
    sums = np.concatenate(parts, axis=1)
    return fold(G, sums.reshape(-1, sums.shape[2]), 2 * len(parts), 1)
