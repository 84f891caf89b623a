"""`cuzk warmup` compiles what the other commands need, and says where it cannot keep it."""

import os
from pathlib import Path

import pytest

from cli.warmup import CURVES, PURPOSES
from engine.gpus import visible_gpus
from kernels.cpu.warmup import STEPS
from kernels.fields import CURVES as KNOWN_CURVES
from tests.cli.conftest import Cuzk, refused, succeed


def test_it_offers_what_there_is() -> None:
    assert set(CURVES) == set(KNOWN_CURVES)
    assert set(PURPOSES) == {*STEPS, "gpu"}


def test_it_compiles_for_one_curve_and_purpose_and_the_second_time_only_loads(cuzk: Cuzk) -> None:
    succeed(cuzk("warmup", "--curve", "bn254", "--for", "verify"))
    told = succeed(cuzk("warmup", "--curve", "bn254", "--for", "verify"))
    assert told.startswith("kernels for bn254 already compiled; loaded in ")


@pytest.mark.skipif(bool(visible_gpus().found), reason="there is a GPU")
def test_kernels_for_gpus_are_refused_where_there_is_none(cuzk: Cuzk) -> None:
    assert "kernels for GPUs cannot be compiled here: " in refused(cuzk("warmup", "--for", "gpu"))


def test_a_folder_that_cannot_keep_kernels_is_refused(cuzk: Cuzk, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    done = cuzk("warmup", env={**environment, "CUZK_HOME": str(tmp_path / "file"), "TMPDIR": str(tmp_path)})
    assert "cannot be written; set CUZK_HOME" in refused(done)
    assert not list(tmp_path.glob("cuzk-*"))
