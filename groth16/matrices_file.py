"""A key's matrices in a file as they are in memory: mapped, and so shared by every process that reads it.

Reading the key's own section 4 sorts, copies and checks each term. What comes out is kept here: iden3's
container (see `container`) with the magic "pcex", payloads aligned to 64 bytes. Section 1 has the counts
below and the CRC-32 of each block of the arrays; sections 2 to 6 are A's arrays, 7 to 11 B's (see `Matrix`).
It is derived: whatever is wrong with it is mended by making it again.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from groth16.checksums import block_checksums
from groth16.container import Container, read_container
from groth16.container_writer import payload, write_container
from groth16.matrices import Matrices, Matrix
from groth16.matrices_head import ARRAYS, MAGIC, SECTIONS, VERSION
from groth16.r1cs import Csr
from groth16.zkey import KeyHeader
from kernels.parallel import Run

_COUNTS = struct.Struct("<QQQQQ")  # rows, A's terms with coefficient 1 or −1, its others, and B's


def write_matrices(path: Path, matrices: Matrices, run: Run) -> None:
    """Write the file at once or not at all. Raises InputError where it cannot be written."""
    arrays = matrices.a.arrays + matrices.b.arrays
    terms = [len(array) for m in (matrices.a, matrices.b) for array in (m.unit_columns, m.others.columns)]
    counts = _COUNTS.pack(matrices.n_rows, *terms)
    sections = [payload(2 + index, array) for index, array in enumerate(arrays)]
    head = payload(1, counts, block_checksums(arrays, run))
    write_container(path, MAGIC, VERSION, [head, *sections], aligned=True)


def map_matrices(path: Path, header: KeyHeader, run: Run) -> Matrices:
    """Map the file made of this key's matrices, read-only, and read it once to check it.

    Raises InputError for one that is missing, of another key or version, cut short or damaged.
    """
    container = read_container(path, MAGIC, VERSION, SECTIONS)
    n_rows, *terms = _COUNTS.unpack(container.read(1, 0, _COUNTS.size))
    if n_rows != header.domain_size or sum(terms) != header.n_coefficients:
        raise container.wrong(1, "has other counts than its key")
    a, b = (_map(container, 2 + len(ARRAYS) * i, n_rows, *terms[2 * i : 2 * i + 2]) for i in range(2))
    if container.read(1, _COUNTS.size) != block_checksums(a.arrays + b.arrays, run).tobytes():
        raise container.wrong(1, "says that the file is damaged")
    return Matrices(a, b, n_rows, header.n_variables)


def _map(container: Container, first: int, n_rows: int, n_units: int, n_others: int) -> Matrix:
    def mapped(part: int, dtype: DTypeLike, *shape: int) -> NDArray[Any]:
        return container.map_array(first + part, shape, dtype)

    unit_starts, unit_columns = mapped(0, np.int64, n_rows + 1), mapped(1, np.int32, n_units)
    row_starts, columns = mapped(2, np.int64, n_rows + 1), mapped(3, np.uint32, n_others)
    others = Csr(row_starts, columns, mapped(4, np.uint64, n_others, 4))
    return Matrix(unit_starts, unit_columns, others)
