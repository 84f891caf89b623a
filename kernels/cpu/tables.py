"""Tables of multiples, so that the windows of a scalar share sets of buckets (see `scalar_parts.table_part`).

A table holds 2^(WINDOW_BITS·k)·P for each point P and k below ROWS. Window number ROWS·i + k of a scalar is
then a window of the k-th multiple with the weight of window ROWS·i. A sum has as many additions of points to
buckets as before, and ROWS times fewer buckets to add up (Brickell, Gordon, McCurley, Wilson, "Fast
exponentiation with precomputation", 1992).
"""

from typing import NamedTuple

import numpy as np

from kernels.cpu.batch_affine import new_scratch, sum_groups
from kernels.cpu.curve import element_words, read_only_bytes
from kernels.encoding import Limbs
from kernels.fields import Field, Group, QuadraticField
from kernels.parallel import Run, run_chunks
from kernels.table_shape import ROWS, WINDOW_BITS


class Table(NamedTuple):
    """Multiples of n points, which are the first row."""

    points: Limbs  # (ROWS, n, *point_shape): affine, Montgomery, all zeros for infinity


def make_table(G: Group, points: Limbs, run: Run) -> Table:
    """The table of `points`, (n, *G.point_shape): affine, Montgomery, all zeros for infinity."""
    multiples = np.empty((ROWS, *points.shape), np.uint64)
    run_chunks(run, _fill, len(points), G.field, multiples, points, minimum=256)
    return Table(multiples)


def _fill(F: Field | QuadraticField, multiples: Limbs, points: Limbs, start: int, stop: int) -> None:
    """All rows of the points [start, stop), by doublings that share their inversions."""
    count, scratch = stop - start, new_scratch(F)
    codes = np.repeat(2 * np.arange(count, dtype=np.uint32), 2)  # each point twice
    starts = 2 * np.arange(count + 1, dtype=np.int64)
    current = points[start:stop].reshape(2 * count, element_words(F))
    for k in range(ROWS):
        multiples[k, start:stop] = current.reshape(count, *multiples.shape[2:])
        for _ in range(WINDOW_BITS if k < ROWS - 1 else 0):
            doubled = np.zeros((2 * count, element_words(F)), np.uint64)
            sum_groups(F, doubled, 0, read_only_bytes(current), codes, starts, count, scratch)
            current = doubled
