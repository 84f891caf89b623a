"""Writing iden3's container (see `container`): sections one after another, sizes known beforehand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groth16.output import replacing

Part = bytes | NDArray[Any]
Payload = Sequence[Part]

_PADDING_SECTION = 1 << 16  # and upwards: numbers that no format uses, which readers pass over
_ALIGNMENT_BYTES = 64  # of a cache line and of the widest vector register


def write_container(
    path: str | Path, magic: str, version: int, sections: Iterable[tuple[int, Payload]], aligned: bool = False
) -> None:
    """Write sections of (number, parts); arrays are written as they lie in memory, C order, little-endian.

    aligned: every payload begins at a multiple of 64 bytes, so that it can be used where it is mapped. The
    gaps are sections with numbers from 65536 upwards. Raises InputError if the file cannot be written.
    """
    placed = list(_with_padding(sections) if aligned else sections)
    with replacing(path) as file:
        file.write(magic.encode() + version.to_bytes(4, "little") + len(placed).to_bytes(4, "little"))
        for number, payload in placed:
            file.write(_section_head(number, payload))
            for part in payload:
                file.write(part if isinstance(part, bytes) else np.ascontiguousarray(part).data)


def _with_padding(sections: Iterable[tuple[int, Payload]]) -> Iterable[tuple[int, Payload]]:
    position = 12
    for index, (number, payload) in enumerate(sections):
        gap = -(position + 12) % _ALIGNMENT_BYTES
        if gap:
            padding = bytes((gap - 12) % _ALIGNMENT_BYTES)
            yield _PADDING_SECTION + index, [padding]
            position += 12 + len(padding)
        yield number, payload
        position += 12 + _size_bytes(payload)


def _section_head(number: int, payload: Payload) -> bytes:
    return number.to_bytes(4, "little") + _size_bytes(payload).to_bytes(8, "little")


def _size_bytes(payload: Payload) -> int:
    return sum(len(part) if isinstance(part, bytes) else part.nbytes for part in payload)
