"""A stage that takes too long is stopped, its proof fails by name, and the rest goes on."""

import threading
from pathlib import Path
from types import ModuleType

import pytest

from config import TimeoutsConfig
from engine import CircuitSpec, Engine, ProofFailed, ProofRequest, load_shape, loading, stages
from engine.errors import StageTimeout
from tests.engine.support import CONFIG, Hold, Rows, limits_for, run, until

HOLDS: dict[str, tuple[ModuleType, str]] = {
    "load": (loading, "check_points_of"),
    "synthesize": (stages, "synthesize_rows"),
    "prove": (stages, "prove_points"),
    "verify": (stages, "verify_proof"),
}


@pytest.mark.parametrize("stage", ["synthesize", "prove", "verify"])
def test_a_stage_that_takes_too_long_fails_its_proof(
    multiplier: CircuitSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    module, name = HOLDS[stage]
    real, hold = getattr(module, name), Hold(getattr(module, name))
    monkeypatch.setattr(module, name, hold)
    config = CONFIG.model_copy(update={"timeouts": TimeoutsConfig(**{stage: 0.5})})

    async def steps() -> None:
        async with Engine(config, limits_for(multiplier, 2)) as running:
            proof = running.submit(ProofRequest(multiplier, "slow", tmp_path / "slow"))
            await hold.entered()
            stop = next(iter(running._executor._runs.values())).work.stop
            await until(stop.is_set)
            if stage == "verify":  # one call, which nothing interrupts: it counts if it ends well
                hold.let_go.set()
                await running.result(proof)
            else:
                with pytest.raises(
                    ProofFailed, match=f"slow: {stage} took longer than timeouts.{stage}"
                ) as error:
                    await running.result(proof)
                assert isinstance(error.value.__cause__, StageTimeout)
                assert list((tmp_path / "slow").iterdir()) == []
            assert running.reserved_bytes == load_shape(multiplier).entries_bytes
            monkeypatch.setattr(module, name, real)
            running._executor._timeouts = TimeoutsConfig()
            await running.result(running.submit(ProofRequest(multiplier, "next", tmp_path / "next")))

    run(steps())
    assert hold.held_bytes() == 0


def test_a_load_that_takes_too_long_fails_those_who_wait_for_it(
    multiplier: CircuitSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold, rows = Hold(loading.touch), Rows()
    monkeypatch.setattr(loading, "touch", hold)
    config = CONFIG.model_copy(update={"timeouts": TimeoutsConfig(load=0.02)})

    async def steps() -> None:
        async with Engine(config, limits_for(multiplier, 2), rows) as running:
            proof = running.submit(ProofRequest(multiplier, "slow", tmp_path / "slow"))
            with pytest.raises(ProofFailed, match=r"slow: load took longer than timeouts.load, 0.02 s"):
                await running.result(proof)

    threads_before = set(threading.enumerate())
    run(steps())
    assert set(threading.enumerate()) <= threads_before
