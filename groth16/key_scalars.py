"""What the generators are multiplied by in a proving key, for a known tau, alpha, beta and delta.

Groth (2016), section 3.2, in snarkjs's conventions: gamma is 1, rows that bind the public signals are added
to A, and h is given by the odd half of the Lagrange basis of twice the domain.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from groth16.errors import InputError
from groth16.r1cs import Csr, R1cs
from kernels.cpu.ntt import domain_of
from kernels.cpu.spmv import add_products
from kernels.cpu.vectors import from_montgomery, scale_by_powers
from kernels.encoding import to_montgomery_limbs
from kernels.fields import Field
from kernels.parallel import Run, run_chunks

Scalars = NDArray[np.uint64]


@dataclass(frozen=True)
class Toxic:
    """The setup's secrets, canonical integers: whoever knows them can prove anything. Never printed."""

    tau: int = field(repr=False)
    alpha: int = field(repr=False)
    beta: int = field(repr=False)
    delta: int = field(repr=False)


@dataclass(frozen=True)
class KeyScalars:
    """(n, 4) uint64 limbs each, canonical, below the modulus: the discrete logarithms of a key's points."""

    a: Scalars
    b: Scalars
    ic: Scalars
    c: Scalars
    h: Scalars


def domain_size_of(r1cs: R1cs) -> int:
    """The power of two, at least 2, that holds the constraints and the rows binding 1 and the public signals.

    Raises InputError if the field has no root of unity of twice that order, which the quotient needs.
    """
    rows = r1cs.n_constraints + r1cs.n_public + 1
    log2_size = max(1, (rows - 1).bit_length())
    largest = r1cs.curve.fr.two_adicity - 1
    if log2_size > largest:
        raise InputError(
            f"the circuit has {r1cs.n_constraints} constraints and {r1cs.n_public} public signals, "
            f"{r1cs.curve.name} allows 2^{largest} in all: split the circuit"
        )
    return 1 << log2_size


def draw_toxic(scalar_field: Field, domain_size: int) -> Toxic:
    """Secrets from the system's generator: none zero, and tau off the double domain (the basis has zeros)."""
    modulus = scalar_field.modulus
    tau = 1
    while pow(tau, 2 * domain_size, modulus) == 1:
        tau = 1 + secrets.randbelow(modulus - 1)
    alpha, beta, delta = (1 + secrets.randbelow(modulus - 1) for _ in range(3))
    return Toxic(tau, alpha, beta, delta)


def key_scalars(r1cs: R1cs, domain_size: int, toxic: Toxic, run: Run) -> KeyScalars:
    """A_j(tau), B_j(tau), K_j = (beta·A_j + alpha·B_j + C_j)(tau), K_j/delta of private wires, and h's basis.

    The sums for K come from one product: A, B and C stacked, times beta·L, alpha·L and L stacked.
    """
    fr, n_public_wires = r1cs.curve.fr, r1cs.n_public + 1
    a = with_binding_rows(r1cs)
    per_delta = pow(toxic.delta, -1, fr.modulus)

    def basis(*weights: int) -> Scalars:
        return np.concatenate([lagrange_basis(fr, domain_size, toxic.tau, weight, run) for weight in weights])

    def transpose(*matrices: Csr) -> Csr:
        return transposed(matrices, domain_size, r1cs.n_wires)

    k, weights = transpose(a, r1cs.b, r1cs.c), (toxic.beta, toxic.alpha, 1)
    weights_per_delta = [weight * per_delta % fr.modulus for weight in weights]
    return KeyScalars(
        a=multiply_matrix(fr, transpose(a), basis(1), run),
        b=multiply_matrix(fr, transpose(r1cs.b), basis(1), run),
        ic=multiply_matrix(fr, rows_of(k, 0, n_public_wires), basis(*weights), run),
        c=multiply_matrix(fr, rows_of(k, n_public_wires, r1cs.n_wires), basis(*weights_per_delta), run),
        h=odd_basis(fr, domain_size, toxic.tau, per_delta, run),
    )


def with_binding_rows(r1cs: R1cs) -> Csr:
    """A with a row more for wire 0 and each public signal, so that no proof fits two of their values."""
    n_wires = r1cs.n_public + 1
    n_terms = len(r1cs.a.columns)
    ones = np.zeros((n_wires, 4), np.uint64)
    ones[:, 0] = 1
    return Csr(
        np.concatenate([r1cs.a.row_starts, n_terms + 1 + np.arange(n_wires, dtype=np.int64)]),
        np.concatenate([r1cs.a.columns, np.arange(n_wires, dtype=np.uint32)]),
        np.concatenate([r1cs.a.coefficients, ones]),
    )


def transposed(matrices: Sequence[Csr], rows_each: int, n_columns: int) -> Csr:
    """The transpose of the matrices stacked, each padded to `rows_each` rows; n_columns rows."""
    rows = np.concatenate(
        [
            rows_each * i + np.repeat(np.arange(len(m.row_starts) - 1), np.diff(m.row_starts))
            for i, m in enumerate(matrices)
        ]
    )
    columns = np.concatenate([m.columns for m in matrices])
    order = np.argsort(columns, kind="stable")
    row_starts = np.zeros(n_columns + 1, np.int64)
    np.cumsum(np.bincount(columns, minlength=n_columns), out=row_starts[1:])
    coefficients = np.concatenate([m.coefficients for m in matrices])[order]
    return Csr(row_starts, rows[order].astype(np.uint32), coefficients)


def rows_of(matrix: Csr, start: int, stop: int) -> Csr:
    """Rows [start, stop) as a matrix that shares the terms."""
    return Csr(matrix.row_starts[start : stop + 1], matrix.columns, matrix.coefficients)


def multiply_matrix(fr: Field, matrix: Csr, values: Scalars, run: Run) -> Scalars:
    """matrix·values: canonical coefficients times Montgomery values are canonical."""
    n_rows = len(matrix.row_starts) - 1
    out = np.zeros((n_rows, 4), np.uint64)
    run_chunks(
        run, add_products, n_rows, fr, out, matrix.row_starts, matrix.columns, matrix.coefficients, values
    )
    return out


def lagrange_basis(fr: Field, domain_size: int, tau: int, scale: int, run: Run) -> Scalars:
    """scale·L_i(tau) for the domain <w_n>: (domain_size, 4) Montgomery.

    L_i(tau) = 1/n · Σ_j tau^j · w_n^(−ij), an inverse NTT of tau's powers, without a division by tau − w_n^i.
    """
    values = np.tile(to_montgomery_limbs(fr, [1]), (domain_size, 1))
    first, ratio = (to_montgomery_limbs(fr, [x]) for x in (scale, tau))
    run_chunks(run, scale_by_powers, domain_size, fr, values, values, first, ratio)
    domain_of(fr, domain_size.bit_length() - 1).inverse(values, run)
    return values


def odd_basis(fr: Field, domain_size: int, tau: int, scale: int, run: Run) -> Scalars:
    """scale times the odd half of the Lagrange basis of <w_2n> at tau: (domain_size, 4) canonical.

    L_{2i+1}(tau) = 1/2n · Σ_{j<2n} tau^j · w_2n^(−(2i+1)j). Terms j and j + n differ by the factor −tau^n, as
    w_2n^n = −1, which leaves (1 − tau^n)/2 times the basis of <w_n> at tau/w_2n.
    """
    modulus = fr.modulus
    root = fr.root_of_order(domain_size.bit_length())
    factor = scale * (1 - pow(tau, domain_size, modulus)) * pow(2, -1, modulus) % modulus
    values = lagrange_basis(fr, domain_size, tau * pow(root, -1, modulus) % modulus, factor, run)
    run_chunks(run, from_montgomery, domain_size, fr, values, values)
    return values
