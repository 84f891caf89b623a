from __future__ import annotations

import os
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groth16.container import Container, read_container
from groth16.container_writer import payload, write_container
from groth16.errors import InputError
from tests.groth16.oracle import binary_file
from tests.groth16.samples import refuses

NAMES = {1: "header", 2: "numbers"}
NUMBERS = np.arange(6, dtype=np.uint64)


def read(path: Path) -> Container:
    return read_container(path, "test", 2, NAMES)


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good"
    path.write_bytes(binary_file(b"test", 2, {2: NUMBERS.tobytes(), 1: b"head", 9: b"unknown"}))
    return path


def test_sections_in_any_order_with_unknown_ones(good: Path) -> None:
    container = read(good)
    assert container.read(1) == b"head"
    assert container.read(1, 1, 3) == b"ea"
    assert container.file_bytes == good.stat().st_size
    for array in (container.read_array(2, (3, 2)), container.map_array(2, (3, 2))):
        assert array.tolist() == [[0, 1], [2, 3], [4, 5]]


def test_read_arrays_are_writable_and_mapped_ones_are_not(good: Path) -> None:
    mapped, read_in = read(good).map_array(2, (6,)), read(good).read_array(2, (6,))
    assert read_in.flags.writeable
    assert read_in.flags.aligned
    assert not mapped.flags.writeable


@pytest.mark.parametrize("shape", [(5,), (7,), (2**40, 2**40)])
def test_a_section_of_another_size_is_refused(good: Path, shape: tuple[int, ...]) -> None:
    for read_section in (read(good).map_array, read(good).read_array):
        with pytest.raises(InputError, match=r"section 2 \(numbers\) is 48 bytes long, expected"):
            read_section(2, shape)


def test_reading_beyond_a_section_is_refused(good: Path) -> None:
    with pytest.raises(InputError, match="is 4 bytes long, expected at least 5"):
        read(good).read(1, 0, 5)


def test_missing_files_and_folders_are_refused(tmp_path: Path) -> None:
    refuses(read, tmp_path / "missing", "cannot be read")
    refuses(read, tmp_path, "is a folder, expected a file")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"PK\3\4 and so on", "no .test file"),
        (b"tes", "ends after 3 bytes"),
        (b"test\2\0\0\0", "ends after 8 bytes"),
        (binary_file(b"test", 3, {1: b"", 2: b""}), "version 3, expected 2"),
        (binary_file(b"test", 2, {1: b""}), r"section 2 \(numbers\) is missing"),
        (binary_file(b"test", 2, {1: b"", 2: b""}) + b"x", "1 bytes after its last section"),
        (b"test" + struct.pack("<IIIQIQ", 2, 2, 1, 0, 1, 0), r"section 1 \(header\) is there twice"),
        (
            b"test" + struct.pack("<IIIQ", 2, 1, 2, 1),
            r"section 2 \(numbers\) ends at byte 25, the file at 24",
        ),
        (b"test" + struct.pack("<IIIQ", 2, 1, 2, 2**64 - 1), "ends at byte"),
        (b"test" + struct.pack("<II", 2, 2**32 - 1), "has 0 whole sections of 4294967295"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "damaged"
    path.write_bytes(data)
    refuses(read, path, words)


def test_every_truncation_is_refused(good: Path, tmp_path: Path) -> None:
    whole, cut = good.read_bytes(), tmp_path / "cut"
    for length in range(len(whole)):
        cut.write_bytes(whole[:length])
        refuses(read, cut)


def test_a_file_that_shrinks_after_its_table_was_read_is_refused(good: Path) -> None:
    container = read(good)
    good.write_bytes(good.read_bytes()[:30])
    with pytest.raises(InputError, match="became shorter"):
        container.read_array(2, (6,))
    with pytest.raises(InputError, match="cannot be mapped"):
        container.map_array(2, (6,))


def test_offsets_beyond_4_gib(tmp_path: Path) -> None:
    path, hole = tmp_path / "sparse", 5 << 30
    with path.open("wb") as file:
        file.write(b"test" + struct.pack("<IIIQ", 2, 3, 7, hole))
        file.seek(hole, 1)
        file.write(struct.pack("<IQ", 1, 0) + struct.pack("<IQ", 2, 48) + NUMBERS.tobytes())
    assert read(path).map_array(2, (6,)).tolist() == NUMBERS.tolist()
    assert read(path).read_array(2, (6,)).tolist() == NUMBERS.tolist()


@given(st.lists(st.binary(max_size=200), max_size=8))
def test_aligned_writing_puts_every_payload_on_64_bytes(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes]
) -> None:
    path = tmp_path_factory.mktemp("aligned") / "file"
    sections = [payload(number, part[:3], part[3:]) for number, part in enumerate(parts, 1)]
    write_container(path, "test", 2, sections, aligned=True)
    container = read_container(path, "test", 2, dict.fromkeys(range(1, len(parts) + 1), ""))
    for number, part in enumerate(parts, 1):
        assert container.sections[number].offset_bytes % 64 == 0
        assert container.read(number) == part
    write_container(path, "test", 2, [payload(1, b"replaced")], aligned=False)
    assert path.read_bytes() == binary_file(b"test", 2, {1: b"replaced"})


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    refuses(
        lambda path: read_container(path, "zkey", 1, {}), path, "is a named pipe; expected a regular file$"
    )
