"""How many bytes a circuit's parts take in memory: the one place for these formulas.

The budget reserves by them before anything is read. They depend on counts alone, so a key's header is enough.
"""

from __future__ import annotations

from typing import Protocol

from kernels.fields import Curve

SCALAR_BYTES = 32  # of an element of Fr, on both curves
MSM_BLOCK_BYTES = 3 << 19  # at most, of `kernels.cpu.batch_affine.Scratch`


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


def pce_bytes(key: KeyCounts) -> int:
    """The matrices and the domain's roots, which circuits of one domain size share and each account for."""
    return matrices_bytes(key) + roots_bytes(key)


def matrices_bytes(key: KeyCounts) -> int:
    """A and B: at most a coefficient and a column for each term, and two starts each for a row of the domain.

    Terms with coefficient 1 or −1 need no coefficient, but how many there are only the terms tell.
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


def phase2_bytes(key: KeyCounts, threads: int = 1) -> int:
    """What a partition holds until its proof exists: witness, a or h, and the sums' memory on `threads`."""
    return witness_bytes(key) + key.domain_size * SCALAR_BYTES + msm_bytes(key, threads)


def msm_bytes(key: KeyCounts, threads: int = 1) -> int:
    """Working memory of the largest multi-scalar multiplication, the one in G2: they run one after another.

    For each scalar its digits, of 16 bits in 32 windows at most (few scalars have more), and, first, its
    number in three lists. On each thread an affine sum for each digit's size, at most 2^15 and fewer for few
    points, and what lays out its points in lanes; each point's place; and a block of points. Few points take
    many windows at a time, which have 2^11 sums and 2^13 digits at most.
    """
    scalars = max(key.n_variables, key.domain_size)
    buckets = min(1 << 15, max(scalars, 1 << 11))
    digits = min(1 << 20, max(scalars, 1 << 13))
    point_bytes = key.curve.g2.point_bytes
    shared_bytes = scalars * (2 * 32 + 4 * 4)
    thread_bytes = buckets * (point_bytes + 96) + digits * 8 + MSM_BLOCK_BYTES
    return shared_bytes + threads * thread_bytes
