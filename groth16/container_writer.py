"""Writing iden3's container (see `container`): sections one after another, sizes known beforehand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groth16.output import replacing

Part = bytes | NDArray[Any]

_FILE_HEAD_BYTES = 12
_SECTION_HEAD_BYTES = 12
_PADDING_SECTION = 1 << 16  # and upwards: numbers that no format uses, which readers pass over
_ALIGNMENT_BYTES = 64  # of a cache line and of the widest vector register


@dataclass(frozen=True)
class Payload:
    """A section to write: arrays as they lie in memory, C order, little-endian; parts are consumed once."""

    number: int
    size_bytes: int
    parts: Iterable[Part]


def payload(number: int, *parts: Part) -> Payload:
    """A section of parts that exist already."""
    return Payload(number, sum(len(p) if isinstance(p, bytes) else p.nbytes for p in parts), parts)


def write_container(
    path: str | Path, magic: str, version: int, sections: list[Payload], aligned: bool
) -> None:
    """Write a file at once or not at all.

    aligned: every payload begins at a multiple of 64 bytes, so that it can be used where it is mapped; what
    fills the gaps are sections with numbers from 65536 upwards. Raises InputError if that is impossible.
    """
    placed = list(_with_padding(sections)) if aligned else sections
    with replacing(path) as file:
        file.write(magic.encode() + version.to_bytes(4, "little") + len(placed).to_bytes(4, "little"))
        for section in placed:
            file.write(section.number.to_bytes(4, "little") + section.size_bytes.to_bytes(8, "little"))
            written_bytes = 0  # a pipe could not tell
            for part in section.parts:
                data = memoryview(part if isinstance(part, bytes) else np.ascontiguousarray(part).data)
                file.write(data)
                written_bytes += data.nbytes
            assert written_bytes == section.size_bytes, f"section {section.number} has another size"


def _with_padding(sections: list[Payload]) -> Iterator[Payload]:
    position = _FILE_HEAD_BYTES
    for index, section in enumerate(sections):
        if (position + _SECTION_HEAD_BYTES) % _ALIGNMENT_BYTES:
            gap = -(position + 2 * _SECTION_HEAD_BYTES) % _ALIGNMENT_BYTES
            yield payload(_PADDING_SECTION + index, bytes(gap))
            position += _SECTION_HEAD_BYTES + gap
        yield section
        position += _SECTION_HEAD_BYTES + section.size_bytes
