"""A table of multiples of a key's H points in a file as it is in memory (see `kernels.cpu.tables`).

iden3's container (see `container`) with the magic "mult", payloads aligned to 64 bytes: section 1 has the
counts below and the CRC-32 of each block of the points, section 2 the points. It is derived: whatever is
wrong with it is mended by making it again.
"""

from __future__ import annotations

import struct
from pathlib import Path

from groth16.checksums import block_checksums
from groth16.container import read_container
from groth16.container_writer import payload, write_container
from groth16.zkey import KeyHeader
from kernels.cpu.tables import Table
from kernels.parallel import Run
from kernels.table_shape import ROWS, WINDOW_BITS

_MAGIC, _VERSION = "mult", 1
_COUNTS = struct.Struct("<QQQ")  # rows, bits of a window, points
_SECTIONS = {1: "checksums", 2: "multiples of H points"}


def write_table(path: Path, table: Table, run: Run) -> None:
    """Write the file at once or not at all. Raises InputError where it cannot be written."""
    counts = _COUNTS.pack(ROWS, WINDOW_BITS, table.points.shape[1])
    head = payload(1, counts, block_checksums([table.points], run))
    write_container(path, _MAGIC, _VERSION, [head, payload(2, table.points)], aligned=True)


def map_table(path: Path, header: KeyHeader, run: Run) -> Table:
    """Map the file made of this key's points, read-only, and read it once to check it.

    Raises InputError for one that is missing, of another key or version, cut short or damaged.
    """
    container = read_container(path, _MAGIC, _VERSION, _SECTIONS)
    expected = _COUNTS.pack(ROWS, WINDOW_BITS, header.domain_size)
    if container.read(1, 0, _COUNTS.size) != expected:
        raise container.wrong(1, "has other counts than its key")
    points = container.map_array(2, (ROWS, header.domain_size, *header.curve.g1.point_shape))
    if container.read(1, _COUNTS.size) != block_checksums([points], run).tobytes():
        raise container.wrong(1, "says that the file is damaged")
    return Table(points)
