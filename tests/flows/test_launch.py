"""What a batch is refused for before anyone waits for a server, or at least for a flow."""

from pathlib import Path

import pytest

import engine
from config import Config, MemoryConfig
from engine import CircuitSpec, EngineError, Rejected
from flows import launch
from flows.batch import BatchParameters
from flows.launch import refuse_what_never_fits, run_batch
from policy import Circuit, Entry

GIB = 2**30
SPEC = CircuitSpec("wide", Path("wide.zkey"), witness=Path("wide.wtns"), partitions=3)


def config(budget_bytes: int) -> Config:
    return Config(memory=MemoryConfig(total_budget=budget_bytes))


def test_a_batch_that_never_fits_is_refused_with_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    shape = Circuit("wide", (Entry("srs", GIB // 2),), phase1_bytes=GIB // 4, phase2_bytes=GIB // 4)
    monkeypatch.setattr(engine, "load_shape", lambda _spec: shape)
    refuse_what_never_fits(config(GIB), SPEC, None)
    with pytest.raises(Rejected, match=r"wide: .*GiB"):
        refuse_what_never_fits(config(GIB - 1), SPEC, None)


def test_a_wrong_name_is_refused_before_a_server_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "prefect_server", lambda *_: pytest.fail("a server was started"))
    with pytest.raises(EngineError, match="merkle"):
        run_batch(BatchParameters(circuit="merkel"), print)


@pytest.mark.usefixtures("small_server")
def test_an_unfit_budget_stops_the_server_that_was_starting(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CUZK_HOME", str(tmp_path))
    monkeypatch.setattr(engine, "resolve", lambda *_: SPEC)
    shape = Circuit("wide", (), phase1_bytes=GIB, phase2_bytes=GIB)
    monkeypatch.setattr(engine, "load_shape", lambda _spec: shape)
    with pytest.raises(Rejected):
        run_batch(BatchParameters(circuit="wide", budget="1GiB"), print)
    assert not (tmp_path / "prefect" / "server.json").exists()
