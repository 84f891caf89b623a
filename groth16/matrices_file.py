"""A key's matrices in a file as they are in memory: mapped, and so shared by every process that reads it.

Reading the key's own section 4 sorts, copies and checks each term. What comes out is kept here: iden3's
container (see `container`) with the magic "pcex", payloads aligned to 64 bytes. Section 1 has the counts
below and the CRC-32 of each block of the arrays; sections 2 to 4 are A's row starts, columns and
coefficients, 5 to 7 B's. It is derived: whatever is wrong with it is mended by making it again.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from groth16.container import Container, read_container
from groth16.container_writer import payload, write_container
from groth16.matrices import Matrices
from groth16.r1cs import Csr
from groth16.zkey import KeyHeader
from kernels.parallel import Run

_MAGIC, _VERSION = "pcex", 1
_COUNTS = struct.Struct("<QQQ")  # rows, terms of A, terms of B
_BLOCK_BYTES = 1 << 22  # that one thread checks at a time
_NAMES = ("row starts", "columns", "coefficients")
_SECTIONS = {1: "checksums"} | {
    2 + 3 * index + part: f"{matrix}'s {name}"
    for index, matrix in enumerate("AB")
    for part, name in enumerate(_NAMES)
}


def write_matrices(path: Path, matrices: Matrices, run: Run) -> None:
    """Write the file at once or not at all. Raises InputError where it cannot be written."""
    arrays = _arrays(matrices.a) + _arrays(matrices.b)
    counts = _COUNTS.pack(matrices.n_rows, len(matrices.a.columns), len(matrices.b.columns))
    sections = [payload(2 + index, array) for index, array in enumerate(arrays)]
    head = payload(1, counts, np.array(_checksums(arrays, run), np.uint32))
    write_container(path, _MAGIC, _VERSION, [head, *sections], aligned=True)


def map_matrices(path: Path, header: KeyHeader, run: Run) -> Matrices:
    """Map the file made of this key's matrices, read-only, and read it once to check it.

    Raises InputError for one that is missing, of another key or version, cut short or damaged.
    """
    container = read_container(path, _MAGIC, _VERSION, _SECTIONS)
    n_rows, *terms = _COUNTS.unpack(container.read(1, 0, _COUNTS.size))
    if n_rows != header.domain_size or sum(terms) != header.n_coefficients:
        raise container.wrong(1, "has other counts than its key")
    a, b = (_map(container, 2 + 3 * index, n_rows, terms[index]) for index in range(2))
    found = np.array(_checksums(_arrays(a) + _arrays(b), run), np.uint32)
    if container.read(1, _COUNTS.size) != found.tobytes():
        raise container.wrong(1, "says that the file is damaged")
    return Matrices(a, b, n_rows)


def _map(container: Container, first: int, n_rows: int, n_terms: int) -> Csr:
    def mapped(part: int, dtype: DTypeLike, *shape: int) -> NDArray[Any]:
        return container.map_array(first + part, shape, dtype)

    return Csr(
        mapped(0, np.int64, n_rows + 1), mapped(1, np.uint32, n_terms), mapped(2, np.uint64, n_terms, 4)
    )


def _arrays(matrix: Csr) -> list[NDArray[Any]]:
    return [matrix.row_starts, matrix.columns, matrix.coefficients]


def _checksums(arrays: list[NDArray[Any]], run: Run) -> list[int]:
    """Of each block; this also brings the file's pages into memory."""
    views = [array.reshape(-1).view(np.uint8) for array in arrays]
    blocks = [view[at : at + _BLOCK_BYTES] for view in views for at in range(0, len(view), _BLOCK_BYTES)]
    return run(zlib.crc32, [(block,) for block in blocks])
