"""Many multiples of a group's generator on a device, as a setup needs them, from tables of its multiples.

The table holds d·2^(c·w)·generator for every window w of c bits and every digit d but 0, so that a multiple
is the sum of one entry a window (Brickell, Gordon, McCurley, Wilson, "Fast exponentiation with
precomputation", 1992). The sums are in XYZZ coordinates; batches that share an inversion make them affine.
"""

from typing import Any

import numpy as np
from numba import cuda, int64, uint64

from kernels.cpu.curve import add_points
from kernels.cpu.windows import SCALAR_LIMBS, check_scalars
from kernels.cuda import curve
from kernels.cuda import field as f
from kernels.cuda.affine import to_affine
from kernels.cuda.launch import kernel, launch
from kernels.cuda.memory import Workspace, element_words
from kernels.encoding import Limbs, encode_points
from kernels.fields import Group
from kernels.parallel import Run, check_stop

WINDOW_BITS = 16  # a table of 100 MB in BLS12-381's G1, of twice that in G2
POINTS_AT_ONCE = 1 << 22  # what the sums of as many take: 800 MB, in G2 1.6 GB


@kernel
def _add_digits(F: Any, table: Any, scalars: Any, bits: int, windows: int, sums: Any) -> None:
    """sums[i] = the XYZZ sum of the table's entries for the digits of scalar i; `bits` divides 64."""
    i = cuda.grid(1)
    if i >= scalars.shape[0]:
        return
    most = (int64(1) << bits) - 1
    total = curve.infinity(F)
    for window in range(windows):
        position = bits * window
        digit = int64(scalars[i, position >> 6] >> uint64(position & 63) & uint64(most))
        if digit != 0:
            entry = window * most + digit - 1
            total = curve.add_affine(F, total, f.load(F, table, 2 * entry), f.load(F, table, 2 * entry + 1))
    curve.store_point(F, sums, i, total)


class FixedBase:
    """A group's generator with the table of its multiples on the current device."""

    def __init__(self, G: Group, workspace: Workspace, window_bits: int = WINDOW_BITS) -> None:
        """window_bits: a power of two up to 16."""
        self.group, self._workspace, self._bits = G, workspace, window_bits
        self._windows = -(-G.order.bit_length() // window_bits)
        self._table = self._powers() if window_bits == 1 else self._multiples()

    def multiply(self, scalars: Any, out: Any) -> None:
        """out[i] = scalars[i]·generator, affine, Montgomery, infinity all zeros.

        scalars: (n, 4) canonical, below the order; out: (n, *point_shape); both uint64 in device memory.
        """
        for start in range(0, len(scalars), POINTS_AT_ONCE):
            stop = min(start + POINTS_AT_ONCE, len(scalars))
            self._multiply(scalars[start:stop], out[start:stop])

    def _multiply(self, scalars: Any, out: Any) -> None:
        F, n = self.group.field, len(scalars)
        sums = self._workspace.array("multiples", (4 * n, element_words(F)), "uint64")
        launch(_add_digits, n, F, self._table, scalars, self._bits, self._windows, sums)
        to_affine(F, sums, out)

    def _powers(self) -> Any:
        """The generator doubled again and again."""
        doubled = [encode_points(self.group, [self.group.generator])[0]]
        while len(doubled) < self._windows:
            doubled.append(add_points(self.group, doubled[-1], doubled[-1]))
        return cuda.to_device(np.stack(doubled))

    def _multiples(self) -> Any:
        """All digits of all windows, made from the table for windows of half as many bits."""
        digits = np.arange(1, 1 << self._bits, dtype=np.uint64)
        scalars = np.zeros((self._windows, len(digits), SCALAR_LIMBS), np.uint64)
        for window, own in enumerate(scalars):
            limb, shift = divmod(self._bits * window, 64)
            own[:, limb] = digits << np.uint64(shift)
        n = self._windows * len(digits)
        table = cuda.device_array((n, *self.group.point_shape), np.uint64)
        half = FixedBase(self.group, self._workspace, self._bits // 2)
        half.multiply(cuda.to_device(scalars.reshape(n, SCALAR_LIMBS)), table)
        return table


def multiply_generator(G: Group, scalars: Limbs, run: Run) -> Limbs:
    """`kernels.cpu.fixed_base.multiply_generator` on the current device, from and to host memory.

    run: is only looked at for whether to stop, and then Stopped is raised.
    """
    check_scalars(scalars, len(scalars))
    out: Limbs = np.empty((len(scalars), *G.point_shape), np.uint64)
    if len(scalars) > 0:
        base = FixedBase(G, Workspace())
        for start in range(0, len(scalars), POINTS_AT_ONCE):
            check_stop(run)
            part = cuda.to_device(np.ascontiguousarray(scalars[start : start + POINTS_AT_ONCE]))
            points = cuda.device_array((len(part), *G.point_shape), np.uint64)
            base.multiply(part, points)
            points.copy_to_host(out[start : start + len(part)])
    return out
