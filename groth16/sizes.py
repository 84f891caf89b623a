"""How many bytes a circuit's parts take in memory: the one place for these formulas.

The budget reserves by them before anything is read. They depend on counts alone, so a key's header is enough.
"""

from __future__ import annotations

from typing import Protocol

from kernels.fields import Curve

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


def pce_bytes(key: KeyCounts) -> int:
    """A and B as CSR: a coefficient and a column for each term, two row starts for each row of the domain."""
    return key.n_coefficients * (SCALAR_BYTES + 4) + 2 * 8 * (key.domain_size + 1)


def witness_bytes(key: KeyCounts) -> int:
    """The values of all wires."""
    return key.n_variables * SCALAR_BYTES


def phase1_bytes(key: KeyCounts) -> int:
    """What is free again once the quotient h exists: b and c. h takes over a's memory."""
    return 2 * key.domain_size * SCALAR_BYTES


def phase2_bytes(key: KeyCounts) -> int:
    """What a partition holds until its proof exists: witness, a or h, and the largest sum's memory."""
    return witness_bytes(key) + key.domain_size * SCALAR_BYTES + msm_bytes(key)


def msm_bytes(key: KeyCounts) -> int:
    """Working memory of one multi-scalar multiplication: they run one after another."""
    largest = max(key.n_variables, key.domain_size)
    return largest * SCALAR_BYTES
