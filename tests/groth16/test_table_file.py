"""The file of a table of multiples: what is mapped is what was made, and no damage goes unseen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from groth16.errors import InputError
from groth16.table_file import map_table, write_table
from groth16.zkey import ProvingKey, read_proving_key
from kernels.cpu.tables import Table, make_table
from kernels.parallel import serial
from tests.groth16.samples import CURVES, patched, sample


@pytest.fixture(params=CURVES)
def key(request: pytest.FixtureRequest) -> ProvingKey:
    return read_proving_key(sample(request.param, "sample.zkey"))


@pytest.fixture
def table(key: ProvingKey) -> Table:
    return make_table(key.header.curve.g1, key.h, serial)


@pytest.fixture
def path(table: Table, tmp_path: Path) -> Path:
    write_table(tmp_path / "table", table, serial)
    return tmp_path / "table"


def test_a_mapped_table_is_what_was_written(key: ProvingKey, table: Table, path: Path) -> None:
    found = map_table(path, key.header, serial).points
    assert np.array_equal(found, table.points)
    assert np.array_equal(found[0], key.h)
    assert found.flags.aligned
    assert not found.flags.writeable


def test_every_changed_byte_and_every_cut_is_seen(key: ProvingKey, table: Table, path: Path) -> None:
    data, seen = path.read_bytes(), 0
    for at in range(0, len(data), 13):
        path.unlink()
        path.write_bytes(patched(data, at, bytes([data[at] ^ 0x40])))
        try:
            found = map_table(path, key.header, serial).points
        except InputError:
            seen += 1
        else:  # the byte fills a gap between two sections, or numbers such a gap
            assert np.array_equal(found, table.points)
    assert seen > table.points.nbytes // 13
    for length in (0, 11, 60, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:length])
        with pytest.raises(InputError, match="table"):
            map_table(path, key.header, serial)


def test_the_table_of_another_key_is_refused(key: ProvingKey, path: Path) -> None:
    with pytest.raises(InputError, match="other counts than its key"):
        map_table(path, replace(key.header, domain_size=2 * key.header.domain_size), serial)
