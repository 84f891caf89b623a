"""The command that measures tables of multiples compares what it measures."""

from pathlib import Path

import pytest

from benchmarks import tables
from kernels.fields import BN254
from kernels.parallel import serial


def test_both_sums_are_measured_and_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gain = tables.measure(BN254.g1, 20, serial, tmp_path, runs=2)
    assert min(gain.plain_s, gain.ratio, gain.making) > 0
    monkeypatch.setattr(tables, "make_table", lambda _, points, __: tables.Table(points[None][[0] * 5]))
    with pytest.raises(ValueError, match="differ"):
        tables.measure(BN254.g1, 20, serial, tmp_path, runs=2)
