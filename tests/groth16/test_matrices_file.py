"""The file of a key's matrices: what is mapped is what was read, and no damage goes unseen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from groth16.errors import InputError
from groth16.matrices import Matrices, read_matrices
from groth16.matrices_file import map_matrices, write_matrices
from groth16.zkey import KeyHeader, read_header
from kernels.parallel import serial
from tests.groth16.samples import CURVES, patched, sample


@pytest.fixture(params=CURVES)
def header(request: pytest.FixtureRequest) -> KeyHeader:
    return read_header(sample(request.param, "sample.zkey"))


@pytest.fixture
def path(header: KeyHeader, tmp_path: Path) -> Path:
    write_matrices(tmp_path / "matrices", read_matrices(header), serial)
    return tmp_path / "matrices"


def arrays_of(matrices: Matrices) -> list[NDArray[Any]]:
    return matrices.a.arrays + matrices.b.arrays


def test_mapped_matrices_are_those_of_the_key(header: KeyHeader, path: Path) -> None:
    found, expected = map_matrices(path, header, serial), read_matrices(header)
    assert (found.n_rows, found.n_wires) == (expected.n_rows, expected.n_wires)
    for mapped, read in zip(arrays_of(found), arrays_of(expected), strict=True):
        assert mapped.dtype == read.dtype
        assert np.array_equal(mapped, read)
        assert mapped.flags.aligned
        assert not mapped.flags.writeable


def test_every_changed_byte_and_every_cut_is_seen(header: KeyHeader, path: Path) -> None:
    data, original = path.read_bytes(), arrays_of(map_matrices(path, header, serial))
    expected = [array.copy() for array in original]
    del original
    seen = 0
    for at in range(0, len(data), 7):
        path.unlink()
        path.write_bytes(patched(data, at, bytes([data[at] ^ 0x40])))
        try:
            found = arrays_of(map_matrices(path, header, serial))
        except InputError:
            seen += 1
        else:  # the byte fills a gap between two arrays, or numbers such a gap
            assert all(map(np.array_equal, found, expected))
    assert seen > sum(array.nbytes for array in expected) // 7
    for length in (0, 11, 60, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:length])
        with pytest.raises(InputError, match="matrices"):
            map_matrices(path, header, serial)


def test_the_file_of_another_key_is_refused(path: Path, header: KeyHeader, tmp_path: Path) -> None:
    other = replace(header, n_coefficients=header.n_coefficients + 1)
    with pytest.raises(InputError, match="other counts than its key"):
        map_matrices(path, other, serial)
    with pytest.raises(InputError, match="cannot be written"):
        write_matrices(tmp_path / "nowhere" / "m", map_matrices(path, header, serial), serial)
