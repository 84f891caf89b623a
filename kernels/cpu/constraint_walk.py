"""Constraints evaluated one after the other, from the stream in which a circuit's file has them.

Where a combination begins only its predecessors tell, so one thread goes through all of it: what matrices by
rows (`kernels.cpu.spmv`) are measured against.
"""

from typing import Any

import numpy as np
from numba import njit

from kernels.cpu import field as f

HALF = np.uint64(32)


@njit(cache=True, nogil=True)
def walk(F: Any, words: Any, x: Any, a: Any, b: Any, c: Any, n: int) -> int:
    """a, b, c: (n or more, L) for the n constraints in `words`; returns how many the stream really has.

    words: (k,) uint32, for each constraint three combinations: a count, then terms of a wire and 2·L words of
    a canonical coefficient, the lowest first. x (n_wires, L) canonical. a and b become canonical, c = C·x/R.
    A combination that leaves the stream or names a wire beyond x ends the walk.
    """
    position, n_words, n_wires = 0, len(words), len(x)
    limbs = x.shape[1]
    coefficient = np.empty((1, limbs), np.uint64)
    for row in range(n):
        for which in range(3):
            if position >= n_words:
                return row
            count = np.int64(words[position])
            position += 1
            if position + count * (1 + 2 * limbs) > n_words:
                return row
            total = f.zero(F)
            for _ in range(count):
                wire = np.int64(words[position])
                if wire >= n_wires:
                    return row
                for limb in range(limbs):
                    low = np.uint64(words[position + 1 + 2 * limb])
                    high = np.uint64(words[position + 2 + 2 * limb])
                    coefficient[0, limb] = low | (high << HALF)
                total = f.add(F, total, f.mul(F, f.load(F, coefficient, 0), f.load(F, x, wire)))
                position += 1 + 2 * limbs
            if which == 0:
                f.store(F, a, row, f.to_montgomery(F, total))
            elif which == 1:
                f.store(F, b, row, f.to_montgomery(F, total))
            else:
                f.store(F, c, row, total)
    return n
