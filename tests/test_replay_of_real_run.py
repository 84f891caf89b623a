"""The policy decides the same for the same events, on a real machine and in the simulator."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

import engine
from config import Config, SrsConfig
from db import open_history, show_run
from engine import CircuitSpec, Engine, EngineError, ProofRequest
from policy import Cancel, Complete, Evict, Fail, Failed
from sim.replay import first_difference, read_recorded, replay, replay_run
from tests.engine.support import CONFIG, limits_for, run

PROOFS = 16


@pytest.fixture(scope="module")
def recorded_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A history of a real batch under a tight budget, with evictions, failures and cancels: run "mixed"."""
    folder = tmp_path_factory.mktemp("mixed")
    circuit = engine.resolve("multiplier", Config(srs=SrsConfig(param_cache=folder)))
    engine.prepare(circuit, lambda _: None)
    run(prove_a_mixture(circuit, folder))
    return folder / "history.db"


async def prove_a_mixture(circuit: CircuitSpec, folder: Path) -> None:
    dice = random.Random(7)
    kinds = [circuit, with_another_key(circuit, folder), with_a_damaged_input(circuit, folder)]
    limits = limits_for(circuit, 2)
    with open_history(folder / "history.db") as history, history.writer() as writer:
        async with Engine(CONFIG, limits, writer, "mixed") as running:
            ids = []
            for number in range(PROOFS):
                request = ProofRequest(
                    kinds[number % 3], f"proof {number}", folder / str(number), 1 + number % 2
                )
                ids.append(running.submit(request))
            running.cancel(ids[0])  # loading
            running.cancel(ids[-1])  # waiting
            for proof_id in ids:
                if dice.random() < 0.3:
                    running.cancel(proof_id)
                try:
                    await running.result(proof_id)
                except EngineError:
                    continue
            for kind in kinds[:2]:  # two partitions of one circuit leave no room for the other's idle key
                last = running.submit(ProofRequest(kind, kind.zkey.stem, folder / kind.zkey.stem, 2))
                await running.result(last)
        assert writer.close() is None


def with_another_key(circuit: CircuitSpec, folder: Path) -> CircuitSpec:
    other = folder / "other.zkey"
    other.write_bytes(circuit.zkey.read_bytes())
    return replace(circuit, zkey=other)


def with_a_damaged_input(circuit: CircuitSpec, folder: Path) -> CircuitSpec:
    inputs = folder / "inputs.json"
    inputs.write_text('{"a": 1}')
    return replace(circuit, inputs=inputs)


def test_the_simulators_decision_log_is_the_engines(recorded_in: Path) -> None:
    with open_history(recorded_in) as history:
        recorded = read_recorded(history, "mixed")
        assert show_run(history, "mixed").run.state == "failed"  # some proofs were meant to
    assert replay_run(recorded) is None
    kinds = {type(entry.event) for entry in recorded.log}
    kinds |= {type(decision) for entry in recorded.log for decision in entry.decisions}
    assert {Cancel, Failed, Evict, Complete} <= kinds
    ends = [each.why for entry in recorded.log for each in entry.decisions if isinstance(each, Fail)]
    assert "cancelled" in ends
    assert any("input" in why for why in ends)


def test_another_budget_would_have_decided_otherwise(recorded_in: Path) -> None:
    with open_history(recorded_in) as history:
        recorded = read_recorded(history, "mixed")
    roomier = replace(recorded.limits, budget_bytes=10 * recorded.limits.budget_bytes)
    first_submit = [(entry.at_s, entry.event) for entry in recorded.log[:3]]
    assert first_difference(recorded.log[:3], replay(roomier, first_submit)) is not None
