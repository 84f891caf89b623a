"""The matrices A and B of a proving key by rows: the pre-compiled constraint evaluator (PCE).

Layout of the key's section 4: number of terms u32, then terms of matrix u32 (0 is A, 1 is B), row u32, wire
u32 and coefficient. Coefficients are stored times R². Most are 1 or −1 and need no product: they are kept
apart, as signed wires. The others are kept in Montgomery form, so that their Montgomery products with
canonical wire values are canonical like these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groth16.limbs import first_not_below
from groth16.opening import open_to_read
from groth16.r1cs import Csr
from groth16.zkey import COEFFICIENT_BYTES, KeyHeader, read_header
from kernels.cpu.vectors import from_montgomery
from kernels.encoding import ints_to_limbs
from kernels.fields import Field
from kernels.parallel import Run, check_stop, serial

TERM = np.dtype([("matrix", "<u4"), ("row", "<u4"), ("wire", "<u4"), ("coefficient", "<u8", (4,))])
_TERMS_AT_ONCE = 1 << 18  # about 11 MB: bounds what reading takes beyond the result
_PARTS = 4  # A's terms with coefficient 1 or −1, its others, and B's in the same way
_SIGNED_WIRES = 1 << 31  # wires that fit a signed column


@dataclass(frozen=True)
class Matrix:
    """A matrix by rows. Row i has the terms unit_starts[i] to unit_starts[i + 1] and those of others.

    unit_starts (rows + 1,) int64; unit_columns (terms,) int32: wire j for coefficient 1, and ~j = −1 − j for
    −1; others: all other terms, coefficients in Montgomery form.
    """

    unit_starts: NDArray[np.int64]
    unit_columns: NDArray[np.int32]
    others: Csr

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """All of it, in the order of the fields."""
        others = self.others
        return [self.unit_starts, self.unit_columns, others.row_starts, others.columns, others.coefficients]

    def cost_before(self, row: int) -> int:
        """What the rows before this one cost, in sums: a product is worth five."""
        return row + int(self.unit_starts[row]) + 5 * int(self.others.row_starts[row])


@dataclass(frozen=True)
class Matrices:
    """A and B. n_rows is the domain's size; the last rows are often empty. Wires are below n_wires."""

    a: Matrix
    b: Matrix
    n_rows: int
    n_wires: int

    @property
    def size_bytes(self) -> int:
        """What the arrays take."""
        return sum(array.nbytes for array in self.a.arrays + self.b.arrays)


def read_matrices(key: KeyHeader | str | Path, run: Run = serial) -> Matrices:
    """Read A and B of a key, in two passes over the file and little more memory than the result.

    run: is only looked at for whether to stop, and then Stopped is raised.
    Raises InputError for a term of another matrix, a row or wire beyond the key's, or a coefficient not below
    the modulus.
    """
    header = key if isinstance(key, KeyHeader) else read_header(key)
    fr = header.curve.fr
    counts = np.zeros((_PARTS, header.domain_size), np.int64)
    last_rows = [0] * _PARTS
    sorted_by_row = True
    for terms in _terms(header, run):
        _check(header, terms)
        for index, rows in enumerate(part["row"] for part in _parts(fr, terms)):
            if len(rows):
                counts[index] += np.bincount(rows, minlength=header.domain_size)
                sorted_by_row &= bool(rows[0] >= last_rows[index]) and bool((rows[1:] >= rows[:-1]).all())
                last_rows[index] = int(rows[-1])
    targets = _Units(fr, counts[0]), _Others(counts[1]), _Units(fr, counts[2]), _Others(counts[3])
    fill = _fill_in_order if sorted_by_row else _fill_by_row
    fill(header, targets, run)
    a, b = _matrix(fr, *targets[:2]), _matrix(fr, *targets[2:])
    return Matrices(a, b, header.domain_size, header.n_variables)


def _terms(header: KeyHeader, run: Run) -> Iterator[NDArray[Any]]:
    """The section's terms in blocks, each (k,) of TERM."""
    remaining = header.n_coefficients
    with open_to_read(header.path) as file:
        file.seek(header.container.sections[4].offset_bytes + 4)
        while remaining:
            check_stop(run)
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


def _parts(fr: Field, terms: NDArray[Any]) -> list[NDArray[Any]]:
    """The terms of each of the four parts."""
    one, minus_one = (_equals(terms, number) for number in _units(fr))
    unit = (one | minus_one) & (terms["wire"] < _SIGNED_WIRES)
    return [terms[(terms["matrix"] == matrix) & kind] for matrix in range(2) for kind in (unit, ~unit)]


@cache
def _units(fr: Field) -> NDArray[np.uint64]:
    """1 and −1 as keys store them: times R²."""
    return ints_to_limbs([fr.montgomery_r2, fr.modulus - fr.montgomery_r2], 4)


def _equals(terms: NDArray[Any], number: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which terms have this coefficient; word by word, as numpy is slow on short rows."""
    equal = np.ones(len(terms), np.bool_)
    for words, word in zip(terms["coefficient"].T, number, strict=True):
        equal &= words == word
    return equal


class _Units:
    """Where the terms with coefficient 1 or −1 go."""

    def __init__(self, fr: Field, row_counts: NDArray[np.int64]) -> None:
        self.starts = _starts(row_counts)
        self.columns = np.empty(int(self.starts[-1]), np.int32)
        self._one = _units(fr)[0]

    def put(self, places: slice | NDArray[np.int64], terms: NDArray[Any]) -> None:
        wires = terms["wire"].astype(np.int32)
        self.columns[places] = np.where(_equals(terms, self._one), wires, ~wires)


class _Others:
    """Where all other terms go, as they are."""

    def __init__(self, row_counts: NDArray[np.int64]) -> None:
        self.starts = _starts(row_counts)
        n_terms = int(self.starts[-1])
        self.columns, self.coefficients = np.empty(n_terms, np.uint32), np.empty((n_terms, 4), np.uint64)

    def put(self, places: slice | NDArray[np.int64], terms: NDArray[Any]) -> None:
        self.columns[places] = terms["wire"]
        self.coefficients[places] = terms["coefficient"]


def _starts(row_counts: NDArray[np.int64]) -> NDArray[np.int64]:
    starts = np.zeros(len(row_counts) + 1, np.int64)
    np.cumsum(row_counts, out=starts[1:])
    return starts


def _fill_in_order(header: KeyHeader, targets: Sequence[_Units | _Others], run: Run) -> None:
    """Terms that come row after row, as every known writer has them: copy block by block."""
    positions = [0] * len(targets)
    for terms in _terms(header, run):
        for index, chosen in enumerate(_parts(header.curve.fr, terms)):
            start, stop = positions[index], positions[index] + len(chosen)
            targets[index].put(slice(start, stop), chosen)
            positions[index] = stop


def _fill_by_row(header: KeyHeader, targets: Sequence[_Units | _Others], run: Run) -> None:
    """Terms in any order: each goes to the next free place of its row."""
    free = [target.starts[:-1].copy() for target in targets]
    for terms in _terms(header, run):
        for index, chosen in enumerate(_parts(header.curve.fr, terms)):
            in_order = chosen[np.argsort(chosen["row"], kind="stable")]
            rows, firsts, counts = np.unique(in_order["row"], return_index=True, return_counts=True)
            places = free[index][in_order["row"]] + np.arange(len(in_order)) - np.repeat(firsts, counts)
            targets[index].put(places, in_order)
            free[index][rows] += counts


def _matrix(fr: Field, units: _Units, others: _Others) -> Matrix:
    coefficients = others.coefficients
    from_montgomery(fr, coefficients, coefficients, 0, len(coefficients))
    return Matrix(units.starts, units.columns, Csr(others.starts, others.columns, coefficients))
