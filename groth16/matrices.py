"""The matrices A and B of a proving key as CSR: the pre-compiled constraint evaluator (PCE).

Layout of the key's section 4: number of terms u32, then terms of matrix u32 (0 is A, 1 is B), row u32, wire
u32 and coefficient. Coefficients are stored times R², and stay so: the Montgomery product with a canonical
wire value is then the product in Montgomery form.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groth16.container import open_to_read
from groth16.limbs import first_not_below
from groth16.r1cs import Csr
from groth16.zkey import COEFFICIENT_BYTES, KeyHeader, read_header

TERM = np.dtype([("matrix", "<u4"), ("row", "<u4"), ("wire", "<u4"), ("coefficient", "<u8", (4,))])
_TERMS_AT_ONCE = 1 << 18  # about 11 MB: bounds what reading takes beyond the result


@dataclass(frozen=True)
class Matrices:
    """A and B by rows, coefficients times R². n_rows is the domain's size; the last rows are often empty."""

    a: Csr
    b: Csr
    n_rows: int


def read_matrices(key: KeyHeader | str | Path) -> Matrices:
    """Read A and B of a key, in two passes over the file and little more memory than the result.

    Raises InputError for a term of another matrix, a row or wire beyond the key's, or a coefficient not below
    the modulus.
    """
    header = key if isinstance(key, KeyHeader) else read_header(key)
    counts = np.zeros((2, header.domain_size), np.int64)
    sorted_by_row = True
    last_rows = [0, 0]
    for terms in _terms(header):
        _check(header, terms)
        for matrix in range(2):
            rows = terms["row"][terms["matrix"] == matrix]
            if len(rows):
                counts[matrix] += np.bincount(rows, minlength=header.domain_size)
                sorted_by_row &= bool(rows[0] >= last_rows[matrix]) and bool((rows[1:] >= rows[:-1]).all())
                last_rows[matrix] = int(rows[-1])
    a, b = (_empty(row_counts) for row_counts in counts)
    fill = _fill_in_order if sorted_by_row else _fill_by_row
    fill(header, (a, b))
    return Matrices(a, b, header.domain_size)


def _terms(header: KeyHeader) -> Iterator[NDArray[Any]]:
    """The section's terms in blocks, each (k,) of TERM."""
    remaining = header.n_coefficients
    with open_to_read(header.path) as file:
        file.seek(header.container.sections[4].offset_bytes + 4)
        while remaining:
            count = min(remaining, _TERMS_AT_ONCE)
            payload = file.read(count * COEFFICIENT_BYTES)
            if len(payload) < count * COEFFICIENT_BYTES:
                raise header.container.wrong(4, "became shorter while it was read")
            yield np.frombuffer(payload, TERM)
            remaining -= count


def _check(header: KeyHeader, terms: NDArray[Any]) -> None:
    limits = {"matrix": 2, "row": header.domain_size, "wire": header.n_variables}
    for name, limit in limits.items():
        if (largest := int(terms[name].max())) >= limit:
            raise header.container.wrong(4, f"names {name} {largest}, expected less than {limit}")
    if first_not_below(terms["coefficient"], header.curve.fr.modulus) is not None:
        raise header.container.wrong(4, "has a coefficient not below the modulus")


def _empty(row_counts: NDArray[np.int64]) -> Csr:
    row_starts = np.zeros(len(row_counts) + 1, np.int64)
    np.cumsum(row_counts, out=row_starts[1:])
    n_terms = int(row_starts[-1])
    return Csr(row_starts, np.empty(n_terms, np.uint32), np.empty((n_terms, 4), np.uint64))


def _fill_in_order(header: KeyHeader, matrices: tuple[Csr, Csr]) -> None:
    """Terms that come row after row, as every known writer has them: copy block by block."""
    positions = [0, 0]
    for terms in _terms(header):
        for index, matrix in enumerate(matrices):
            chosen = terms[terms["matrix"] == index]
            start, stop = positions[index], positions[index] + len(chosen)
            matrix.columns[start:stop] = chosen["wire"]
            matrix.coefficients[start:stop] = chosen["coefficient"]
            positions[index] = stop


def _fill_by_row(header: KeyHeader, matrices: tuple[Csr, Csr]) -> None:
    """Terms in any order: each goes to the next free place of its row."""
    free = [matrix.row_starts[:-1].copy() for matrix in matrices]
    for terms in _terms(header):
        for index, matrix in enumerate(matrices):
            chosen = terms[terms["matrix"] == index]
            chosen = chosen[np.argsort(chosen["row"], kind="stable")]
            rows, firsts, counts = np.unique(chosen["row"], return_index=True, return_counts=True)
            places = free[index][chosen["row"]] + np.arange(len(chosen)) - np.repeat(firsts, counts)
            matrix.columns[places] = chosen["wire"]
            matrix.coefficients[places] = chosen["coefficient"]
            free[index][rows] += counts
