"""How many bytes a circuit's parts take in memory: the one place for these formulas.

The budget reserves by them before anything is read. They depend on counts alone, so a key's header is enough.
"""

from __future__ import annotations

from typing import Protocol

from kernels.fields import Curve
from kernels.table_shape import ROWS, SETS

SCALAR_BYTES = 32  # of an element of Fr, on both curves


class KeyCounts(Protocol):
    """What the formulas need of a key (see `zkey.KeyHeader`)."""

    @property
    def curve(self) -> Curve: ...
    @property
    def n_variables(self) -> int: ...
    @property
    def n_public(self) -> int: ...
    @property
    def domain_size(self) -> int: ...
    @property
    def n_coefficients(self) -> int: ...


def srs_bytes(key: KeyCounts) -> int:
    """The proving key's points: A, B in G1, C and H and the public ones (IC) in G1, and B in G2."""
    g1_points = 3 * key.n_variables + key.domain_size  # A, B, and C with IC: each wire is in one of these two
    return g1_points * key.curve.g1.point_bytes + key.n_variables * key.curve.g2.point_bytes


def table_bytes(key: KeyCounts) -> int:
    """A table of multiples of the H points."""
    return ROWS * key.domain_size * key.curve.g1.point_bytes


def pce_bytes(key: KeyCounts) -> int:
    """The matrices and the domain's roots, which circuits of one domain size share and each account for."""
    return matrices_bytes(key) + roots_bytes(key)


def matrices_bytes(key: KeyCounts) -> int:
    """A and B: at most a coefficient and a column for each term, and two starts each for a row of the domain.

    Terms with coefficient 1 or −1 need no coefficient, but how many there are only the terms tell. See
    `matrices_head` for what matrices take that were read before.
    """
    return key.n_coefficients * (SCALAR_BYTES + 4) + 2 * 2 * 8 * (key.domain_size + 1)


def roots_bytes(key: KeyCounts) -> int:
    """The transforms' roots of unity: half as many as the domain has elements, and one."""
    return (key.domain_size // 2 + 1) * SCALAR_BYTES


def witness_bytes(key: KeyCounts) -> int:
    """The values of all wires."""
    return key.n_variables * SCALAR_BYTES


def phase1_bytes(key: KeyCounts) -> int:
    """What is free again once the quotient h exists: b and c. h lies in a's memory."""
    return 2 * key.domain_size * SCALAR_BYTES


def phase2_bytes(key: KeyCounts, threads: int = 1, with_table: bool = False) -> int:
    """What a partition holds until its proof exists: witness, a or h, and the sums' memory on `threads`."""
    return witness_bytes(key) + key.domain_size * SCALAR_BYTES + msm_bytes(key, threads, with_table)


def msm_bytes(key: KeyCounts, threads: int = 1, with_table: bool = False) -> int:
    """Working memory of the largest multi-scalar multiplication, the one in G2: they run one after another.

    For each scalar its digits and, twice, its number; on each thread what `msm_thread_bytes` says. A sum over
    a table has a number for each row as well, but fewer buckets on a thread than this one.
    """
    scalars = max(key.n_variables, key.domain_size)
    shared_bytes = scalars * (2 * _most_windows(scalars) + 2 * 4)
    if with_table:
        over_table_bytes = key.domain_size * (2 * SETS * ROWS + 4 * ROWS + 2 * 4)
        shared_bytes = max(shared_bytes, over_table_bytes)
    return shared_bytes + threads * msm_thread_bytes(scalars, key.curve)


def msm_thread_bytes(scalars: int, curve: Curve) -> int:
    """For each bucket of a task an affine sum and what lays out its points in lanes; each point's place; and
    a block of points (`kernels.cpu.batch_affine.Scratch`).

    How wide windows are, and how many are a task, follows from how many scalars of a kind there are; these
    are the most of any number up to `scalars`.
    """
    most_buckets = 1 << 15 if scalars >= 1 << 17 else 1 << 14
    buckets = max(3 << 10, min(scalars, most_buckets))
    digits = min(1 << 20, max(1 << 13, min(8 * scalars, 1 << 16), scalars))
    block_bytes = curve.fq.limbs << 18
    return buckets * (curve.g2.point_bytes + 96) + digits * 8 + block_bytes


def _most_windows(scalars: int) -> int:
    """How many digits of 16 bits a scalar has at most: the more scalars, the wider the windows."""
    return 86 if scalars < 1 << 11 else max(17, 58 - 2 * scalars.bit_length())
