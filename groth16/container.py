"""The container of iden3's binary files (.r1cs, .wtns, .zkey): numbered sections, in any order.

Layout, little-endian: magic (4 bytes), version u32, number of sections u32, then for each section its number
u32, its size in bytes u64 and its payload (https://github.com/iden3/binfileutils). Offsets are 64-bit.

Payloads begin wherever the previous one ended, and a mapping cannot shift bytes: an array mapped from others'
files may be unaligned, that is, begin at no multiple of 8 bytes. The kernels that read keys take any
alignment; numpy does too, slower. Our own writer aligns every payload (see `container_writer`).
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import DTypeLike, NDArray

from groth16.errors import InputError
from groth16.opening import open_to_read

_FILE_HEAD_BYTES = 12
_SECTION_HEAD_BYTES = 12


@dataclass(frozen=True)
class Section:
    """Where a payload lies in the file."""

    offset_bytes: int
    size_bytes: int


@dataclass(frozen=True)
class Container:
    """The table of contents of one file; the payloads stay on disk until they are asked for."""

    path: Path
    file_bytes: int
    sections: Mapping[int, Section]
    names: Mapping[int, str]

    def read(self, number: int, start: int = 0, stop: int | None = None) -> bytes:
        """Bytes [start, stop) of a section's payload, to its end without `stop`."""
        section = self.sections[number]
        stop = section.size_bytes if stop is None else stop
        if stop > section.size_bytes:
            raise self.wrong(number, f"is {section.size_bytes} bytes long, expected at least {stop}")
        with open_to_read(self.path) as file:
            file.seek(section.offset_bytes + start)
            payload = file.read(stop - start)
        if len(payload) < stop - start:
            raise self.wrong(number, "became shorter while it was read")
        return payload

    def map_array(self, number: int, shape: tuple[int, ...], dtype: DTypeLike = np.uint64) -> NDArray[Any]:
        """A section that holds exactly one array, mapped read-only; perhaps unaligned, as said above.

        All processes that map the file share its pages, which the system can drop and read again. Raises
        InputError if the section's size is another, naming both.
        """
        section = self.sections[number]
        count, item_bytes = math.prod(shape), np.dtype(dtype).itemsize
        self.expect_bytes(number, count * item_bytes)
        return np.frombuffer(self._mapping, dtype, count, section.offset_bytes).reshape(shape)

    def read_array(self, number: int, shape: tuple[int, ...]) -> NDArray[np.uint64]:
        """The same read into memory of its own: writable, aligned, and whatever becomes of the file."""
        self.expect_bytes(number, 8 * math.prod(shape))
        array = np.empty(shape, np.uint64)
        with open_to_read(self.path) as file:
            file.seek(self.sections[number].offset_bytes)
            count_bytes = file.readinto(array.reshape(-1).view(np.uint8).data)
        if count_bytes < array.nbytes:
            raise self.wrong(number, "became shorter while it was read")
        return array

    def expect_bytes(self, number: int, expected: int) -> None:
        """Raise InputError unless the section's payload has this size."""
        found = self.sections[number].size_bytes
        if found != expected:
            raise self.wrong(number, f"is {found} bytes long, expected {expected} by the file's header")

    def wrong(self, number: int, what: str) -> InputError:
        """An error about a section, to be raised."""
        return InputError(f"{self.path}: section {number} ({self.names[number]}) {what}: make the file again")

    @cached_property
    def _mapping(self) -> mmap.mmap:
        with open_to_read(self.path) as file:
            try:
                return mmap.mmap(file.fileno(), self.file_bytes, access=mmap.ACCESS_READ)
            except (OSError, ValueError) as error:
                raise InputError(f"{self.path}: cannot be mapped into memory ({error})") from error


def read_container(path: str | Path, magic: str, version: int, names: Mapping[int, str]) -> Container:
    """Read the table of contents; payloads are not touched.

    `names` are the sections that must be there, once each; others are allowed and ignored.
    Raises InputError for a missing, empty, foreign or truncated file, a newer version, a section that is
    missing, doubled or reaches beyond the end of the file, and bytes after the last section.
    """
    path = Path(path)
    with open_to_read(path) as file:
        file_bytes = file.seek(0, 2)
        file.seek(0)
        head = _read_head(file, path, magic)
        if (found := int.from_bytes(head[4:8], "little")) > version:
            raise InputError(f"{path}: is a .{magic} file of version {found}, expected {version} or older")
        count = int.from_bytes(head[8:], "little")
        sections = _read_sections(file, path, file_bytes, count, names)
    missing = [f"{number} ({name})" for number, name in names.items() if number not in sections]
    if missing:
        raise InputError(f"{path}: section {', '.join(missing)} is missing: make the file again")
    return Container(path, file_bytes, sections, names)


def _read_head(file: BinaryIO, path: Path, magic: str) -> bytes:
    head = file.read(_FILE_HEAD_BYTES)
    if not head:
        raise InputError(f"{path}: is empty, expected a .{magic} file: make it again")
    if head[:4] != magic.encode()[: len(head)]:
        raise InputError(
            f"{path}: begins with {head[:4]!r}, expected {magic.encode()!r}: it is no .{magic} file"
        )
    if len(head) < _FILE_HEAD_BYTES:
        raise InputError(f"{path}: ends after {len(head)} bytes, within its header: copy the file again")
    return head


def _read_sections(
    file: BinaryIO, path: Path, file_bytes: int, count: int, names: Mapping[int, str]
) -> dict[int, Section]:
    sections: dict[int, Section] = {}
    position = _FILE_HEAD_BYTES
    for index in range(count):
        file.seek(position)
        head = file.read(_SECTION_HEAD_BYTES)
        if len(head) < _SECTION_HEAD_BYTES:
            raise InputError(
                f"{path}: has {index} whole sections of {count}, it is cut short: copy the file again"
            )
        number, size_bytes = int.from_bytes(head[:4], "little"), int.from_bytes(head[4:], "little")
        position += _SECTION_HEAD_BYTES
        end = position + size_bytes
        called = f"section {number} ({names[number]})" if number in names else f"section {number}"
        if end > file_bytes:
            raise InputError(f"{path}: {called} ends at byte {end}, the file at {file_bytes}: copy it again")
        if number in sections:
            raise InputError(f"{path}: {called} is there twice: make the file again")
        sections[number] = Section(position, size_bytes)
        position = end
    if position != file_bytes:
        raise InputError(
            f"{path}: has {file_bytes - position} bytes after its last section: copy the file again"
        )
    return sections
