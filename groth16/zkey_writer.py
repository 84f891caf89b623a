"""Writing a proving key that snarkjs accepts (layout: see `zkey` and `matrices`)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groth16.container_writer import Payload, payload, write_container
from groth16.matrices import TERM
from groth16.r1cs import Csr
from groth16.zkey import KeyPoints
from kernels.fields import Curve, Field

_GROTH16 = 1
_CIRCUIT_HASH_BYTES = 64
_ROWS_AT_ONCE = 1 << 14


@dataclass(frozen=True)
class KeyMatrices:
    """A with the rows that bind the public signals, and B, as a key has them: coefficients times R².

    n_rows is the domain's size; rows beyond those that a matrix has are empty.
    """

    a: Csr
    b: Csr
    n_rows: int


def write_proving_key(
    path: str | Path,
    curve: Curve,
    points: KeyPoints,
    matrices: KeyMatrices,
    circuit_hash: bytes = bytes(_CIRCUIT_HASH_BYTES),
) -> None:
    """Write a key whose sections are aligned, so that `read_proving_key` maps all of them.

    circuit_hash: 64 bytes that tell circuits apart; snarkjs compares them when it verifies a ceremony, which
    a key without contributions cannot pass. Raises InputError if the file cannot be written.
    """
    assert len(circuit_hash) == _CIRCUIT_HASH_BYTES
    sections = [
        payload(1, _u32(_GROTH16)),
        payload(2, *_header(curve, points)),
        payload(3, points.ic),
        _coefficients(matrices),
        payload(5, points.a),
        payload(6, points.b_g1),
        payload(7, points.b_g2),
        payload(8, points.c),
        payload(9, points.h),
        payload(10, circuit_hash, _u32(0)),  # no contributions
    ]
    write_container(path, "zkey", 1, sections, aligned=True)


def _header(curve: Curve, points: KeyPoints) -> list[bytes | NDArray[np.uint64]]:
    counts = struct.pack("<III", len(points.a), len(points.ic) - 1, len(points.h))
    head = [
        points.alpha_g1,
        points.beta_g1,
        points.beta_g2,
        points.gamma_g2,
        points.delta_g1,
        points.delta_g2,
    ]
    return [_modulus(curve.fq) + _modulus(curve.fr) + counts, *head]


def _modulus(field: Field) -> bytes:
    return _u32(field.element_bytes) + field.modulus.to_bytes(field.element_bytes, "little")


def _u32(number: int) -> bytes:
    return number.to_bytes(4, "little")


def _coefficients(matrices: KeyMatrices) -> Payload:
    n_terms = len(matrices.a.columns) + len(matrices.b.columns)

    def parts() -> Iterator[bytes | NDArray[np.void]]:
        yield _u32(n_terms)
        for start in range(0, matrices.n_rows, _ROWS_AT_ONCE):
            yield _terms(matrices, start, min(start + _ROWS_AT_ONCE, matrices.n_rows))

    return Payload(4, 4 + TERM.itemsize * n_terms, parts())


def _terms(matrices: KeyMatrices, start: int, stop: int) -> NDArray[np.void]:
    """The terms of rows [start, stop) as snarkjs orders them: row by row, A's before B's."""
    both = [_matrix_terms(index, csr, start, stop) for index, csr in enumerate((matrices.a, matrices.b))]
    terms = np.concatenate(both)
    return terms[np.argsort(terms["row"], kind="stable")]


def _matrix_terms(index: int, csr: Csr, start: int, stop: int) -> NDArray[np.void]:
    rows = len(csr.row_starts) - 1
    start, stop = min(start, rows), min(stop, rows)
    first, last = int(csr.row_starts[start]), int(csr.row_starts[stop])
    terms = np.empty(last - first, TERM)
    terms["matrix"] = index
    terms["row"] = np.repeat(np.arange(start, stop), np.diff(csr.row_starts[start : stop + 1]))
    terms["wire"] = csr.columns[first:last]
    terms["coefficient"] = csr.coefficients[first:last]
    return terms
