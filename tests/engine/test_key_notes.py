"""What a PCE takes: at most before its first load, exactly after it, and one answer for one policy."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine import CircuitSpec, Engine, ProofRequest, load_shape
from engine.circuit import open_circuit
from engine.kept_files import KeptFiles
from engine.key_cache import KeyCache
from engine.key_notes import key_identity, known_pce_bytes, matrices_name, noted_content
from groth16 import sizes
from groth16.zkey import read_header
from kernels.parallel import serial
from policy import Admit, Load, Loaded
from tests.engine.support import CONFIG, Rows, limits_for, run
from tests.groth16.samples import sample


@pytest.fixture
def spec(multiplier: CircuitSpec, tmp_path: Path) -> CircuitSpec:
    """A key that was never loaded, with a folder for what is derived from it."""
    zkey = tmp_path / "fresh.zkey"
    zkey.write_bytes(multiplier.zkey.read_bytes())
    return replace(multiplier, zkey=zkey, derived=KeptFiles(tmp_path / "derived", 1 << 20))


def proved_twice(spec: CircuitSpec, folder: Path) -> list[Any]:
    """The log of the policy."""
    rows = Rows()

    async def steps() -> None:
        async with Engine(CONFIG, limits_for(spec, 1), rows) as running:
            for number in range(2):
                await running.result(running.submit(ProofRequest(spec, str(number), folder / str(number))))
            assert running.reserved_bytes == load_shape(spec).entries_bytes

    run(steps())
    return rows.log()


def test_it_is_exact_as_soon_as_the_matrices_are_kept(tmp_path: Path) -> None:
    header, files = read_header(sample("bn254", "sample.zkey")), KeptFiles(tmp_path, 1 << 20)
    assert known_pce_bytes(header, files) == header.pce_bytes
    matrices = KeyCache(files).matrices(header, serial)
    n_units = len(matrices.a.unit_columns) + len(matrices.b.unit_columns)
    exact_bytes = matrices.size_bytes + sizes.roots_bytes(header)
    assert known_pce_bytes(header, files) == exact_bytes == header.pce_bytes - 32 * n_units < header.pce_bytes


def test_a_damaged_file_of_matrices_is_not_believed(tmp_path: Path) -> None:
    header, files = read_header(sample("bn254", "sample.zkey")), KeptFiles(tmp_path, 1 << 20)
    KeyCache(files).matrices(header, serial)
    content = noted_content(files, key_identity(header.path))
    assert content is not None
    (tmp_path / matrices_name(content)).write_bytes(b"pcex")
    assert known_pce_bytes(header, files) == header.pce_bytes


def test_the_first_run_gives_back_what_the_next_does_not_reserve(spec: CircuitSpec, tmp_path: Path) -> None:
    at_most, runs = load_shape(spec), [proved_twice(spec, tmp_path) for _ in range(2)]
    exactly = load_shape(spec)
    assert exactly.entries_bytes < at_most.entries_bytes
    for log, shape in zip(runs, (at_most, exactly), strict=True):
        loads = [message.entry for message in log if isinstance(message, Load)]
        assert loads == list(shape.entries)
        loaded = {message.entry_key: message.size_bytes for message in log if isinstance(message, Loaded)}
        assert loaded == {entry.key: entry.size_bytes for entry in exactly.entries}
        assert len([message for message in log if isinstance(message, Admit)]) == 2


def test_what_a_policy_has_heard_stands(spec: CircuitSpec) -> None:
    said_bytes: dict[str, int] = {}
    before = open_circuit(spec, said_bytes)
    KeyCache(spec.derived).matrices(before.header, serial)
    assert open_circuit(spec, said_bytes).shape == before.shape
    assert open_circuit(spec).shape.entries_bytes < before.shape.entries_bytes
