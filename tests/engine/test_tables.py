"""A table is used where it is faster, pays and takes nobody's room; what uses one, proves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from config import Config, SrsConfig
from engine import CircuitSpec, Engine, ProofRequest, load_shape, tables, with_table
from engine.kept_files import NONE, KeptFiles
from engine.key_cache import KeyCache
from engine.loading import load_srs
from groth16 import sizes
from groth16.zkey import read_header, read_proving_key
from kernels.cpu import msm
from kernels.parallel import serial
from policy import Device
from tests.engine.support import CONFIG, limits_for, run

MANY = tables.FEWEST_PROOFS


@pytest.fixture
def spec(right_witness: CircuitSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CircuitSpec:
    """A circuit whose size is no reason against a table."""
    monkeypatch.setattr(tables, "LEAST_DOMAIN", read_header(right_witness.zkey).domain_size)
    return replace(right_witness, derived=KeptFiles(tmp_path / "derived", 1 << 20), proving_threads=2)


def decided(spec: CircuitSpec, proofs: int = MANY, config: Config = CONFIG, **limits: Any) -> bool:
    return with_table(spec, proofs, config, replace(limits_for(spec, 1000), **limits)).table


def test_a_table_is_used_by_many_proofs_where_there_is_room(spec: CircuitSpec) -> None:
    assert decided(spec)
    assert not decided(spec, MANY - 1)
    assert not decided(spec, config=Config(srs=SrsConfig(tables="off")))


def test_few_proofs_use_a_table_that_is_kept(spec: CircuitSpec) -> None:
    few = tables.FEWEST_PROOFS_OF_KEPT
    assert not decided(spec, few)
    KeyCache(spec.derived).table(read_proving_key(spec.zkey), serial)
    assert decided(spec, few)
    assert not decided(spec, few - 1)
    assert not decided(replace(spec, derived=NONE), few)


def test_no_table_where_it_is_no_faster(spec: CircuitSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    for n_threads in (5, 6, 20, 64):
        assert not decided(replace(spec, proving_threads=n_threads))
    for n_threads in (1, 3, 4, 8, 16):
        tabled = replace(spec, proving_threads=n_threads)
        assert with_table(tabled, MANY, CONFIG, limits_for(tabled, 1000)).table
    assert not decided(spec, devices=(Device("cuda:0", 1, memory_bytes=1 << 30),))
    size = read_header(spec.zkey).domain_size
    monkeypatch.setattr(tables, "LEAST_DOMAIN", size + 1)
    assert not decided(spec)
    monkeypatch.setattr(tables, "LEAST_DOMAIN", size)
    monkeypatch.setattr(tables, "LARGEST_DOMAIN", size - 1)
    monkeypatch.setattr("kernels.cpu.lane_tokens.CHOICE", "emulated")
    assert decided(spec)
    monkeypatch.setattr("kernels.cpu.lane_tokens.CHOICE", "off")
    assert not decided(spec)
    monkeypatch.setattr("kernels.cpu.lane_tokens.CHOICE", "emulated")
    monkeypatch.setattr(tables, "LARGEST_DOMAIN_IN_LANES", size - 1)
    assert not decided(spec)


def test_no_table_that_would_take_a_partitions_room(spec: CircuitSpec) -> None:
    """Up to the seven that can be under way: three synthesize, three wait, and one is on the device."""
    one, tabled = Device("cpu", 1), load_shape(replace(spec, table=True))
    for at_once in (1, 6):
        room = tabled.entries_bytes + at_once * tabled.working_bytes
        assert decided(spec, budget_bytes=room, devices=(one,))
        assert not decided(spec, budget_bytes=limits_for(spec, at_once).budget_bytes, devices=(one,))
    room = tabled.entries_bytes + 7 * tabled.working_bytes
    assert decided(spec, budget_bytes=room, devices=(one,))
    assert not decided(spec, budget_bytes=room - 1, devices=(one,))


def test_the_tables_bytes_count(spec: CircuitSpec) -> None:
    header = read_header(spec.zkey)
    without, tabled = load_shape(spec), load_shape(replace(spec, table=True))
    assert tabled.entries_bytes - without.entries_bytes == sizes.table_bytes(header)
    assert not {entry.key for entry in without.entries} >= {entry.key for entry in tabled.entries}
    loaded = load_srs(replace(spec, table=True), serial, first=True).proving_key.h_table
    assert loaded is not None
    assert loaded.points.nbytes == sizes.table_bytes(header)
    assert load_srs(spec, serial, first=False).proving_key.h_table is None


def test_proofs_with_a_table_are_valid(
    spec: CircuitSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used, real = [], msm.table_part
    monkeypatch.setattr(msm, "table_part", lambda *arguments: used.append(1) or real(*arguments))
    tabled = replace(spec, table=True)

    async def steps() -> None:
        async with Engine(CONFIG, limits_for(tabled, 2)) as engine:
            ids = [engine.submit(ProofRequest(tabled, f"p{i}", tmp_path / f"p{i}")) for i in range(2)]
            for proof_id in ids:
                await engine.result(proof_id)  # checked by pairing

    run(steps())
    assert len(used) == 2
