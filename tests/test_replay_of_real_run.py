"""The policy decides the same for the same events, on a real machine and in the simulator."""

import contextlib
import itertools
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import engine
from config import Config, SrsConfig
from db import open_history, show_run
from engine import CircuitSpec, Engine, EngineError, ProofRequest, stages
from policy import (
    BudgetPolicy,
    Cancel,
    Complete,
    Evict,
    Fail,
    Failed,
    LoadFailed,
    Priority,
    Resized,
    Submit,
)
from sim.replay import RecordedRun, first_difference, read_recorded, replay, replay_run
from sim.torture.rules import CheckedPolicy
from tests.engine.support import CONFIG, limits_for, run

PROOFS = 20
FAILING_PROOFS = {2, 5}  # in the order of proving
RESIZES = {4: 0.9, 8: 1.5, 12: 1.0}  # the budget, when so many proofs have ended


@pytest.fixture(scope="module")
def recorded_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A history of a real batch under a tight budget in which much goes wrong: run "mixed"."""
    folder = tmp_path_factory.mktemp("mixed")
    circuit = engine.resolve("multiplier", Config(srs=SrsConfig(param_cache=folder)))
    engine.prepare(circuit, lambda _: None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stages, "prove_points", failing_now_and_then(stages.prove_points))
        run(prove_a_mixture(circuit, folder))
    return folder / "history.db"


def failing_now_and_then(real: Callable[..., Any]) -> Callable[..., Any]:
    numbers = itertools.count()

    def prove_points(*arguments: Any) -> Any:
        if next(numbers) in FAILING_PROOFS:
            raise RuntimeError("the device is lost")
        return real(*arguments)

    return prove_points


async def prove_a_mixture(circuit: CircuitSpec, folder: Path) -> None:
    """Four circuits, of which two at most fit together; one's input is damaged, one's key vanishes."""
    dice = random.Random(7)
    vanishing = with_another_key(circuit, folder, "vanishing")
    kinds = [
        circuit,
        with_another_key(circuit, folder, "other"),
        with_a_damaged_input(circuit, folder),
        vanishing,
    ]
    limits = limits_for(circuit, 2)
    with open_history(folder / "history.db") as history, history.writer() as writer:
        async with Engine(CONFIG, limits, writer, "mixed") as running:
            ids = []
            for number in range(PROOFS):
                partitions, priority = 1 + number % 2, Priority(1 + number % 3)
                request = ProofRequest(
                    kinds[number % 4], f"proof {number}", folder / str(number), partitions, priority
                )
                ids.append(running.submit(request))
            vanishing.zkey.unlink()
            running.cancel(ids[0])  # loading
            running.cancel(ids[-2])  # waiting
            for number, proof_id in enumerate(ids):
                if dice.random() < 0.2:
                    running.cancel(proof_id)
                if number in RESIZES:
                    resized = Resized(int(limits.budget_bytes * RESIZES[number]))
                    running._executor.dispatcher.send(resized)
                await ended(running, proof_id)
            for kind in kinds[:2]:  # two partitions of one circuit leave no room for the other's idle key
                last = running.submit(ProofRequest(kind, kind.zkey.stem, folder / kind.zkey.stem, 2))
                await running.result(last)
            too_large = running.submit(ProofRequest(circuit, "too large", folder / "large", 4))
            running._executor.dispatcher.send(Resized(1))
            await ended(running, too_large)
        assert writer.close() is None


async def ended(running: Engine, proof_id: str) -> None:
    with contextlib.suppress(EngineError):  # some are meant to fail, as the log has to tell
        await running.result(proof_id)


def with_another_key(circuit: CircuitSpec, folder: Path, name: str) -> CircuitSpec:
    other = folder / f"{name}.zkey"
    other.write_bytes(circuit.zkey.read_bytes())
    return replace(circuit, zkey=other)


def with_a_damaged_input(circuit: CircuitSpec, folder: Path) -> CircuitSpec:
    inputs = folder / "inputs.json"
    inputs.write_text('{"a": 1}')
    return replace(circuit, inputs=inputs)


@pytest.fixture(scope="module")
def recorded(recorded_in: Path) -> RecordedRun:
    with open_history(recorded_in) as history:
        assert show_run(history, "mixed").run.state == "failed"  # some proofs were meant to
        return read_recorded(history, "mixed")


def test_everything_went_wrong_in_the_real_run(recorded: RecordedRun) -> None:
    kinds = {type(entry.event) for entry in recorded.log}
    kinds |= {type(decision) for entry in recorded.log for decision in entry.decisions}
    assert {Cancel, Failed, LoadFailed, Resized, Evict, Complete} <= kinds
    ends = [each.why for entry in recorded.log for each in entry.decisions if isinstance(each, Fail)]
    for cause in ("cancelled", "input", "the device is lost", "could not be loaded", "the budget is 1 B"):
        assert any(cause in why for why in ends), cause
    assert len(circuits_of(recorded)) == 3  # the damaged input's key is the first's


def circuits_of(recorded: RecordedRun) -> set[str]:
    jobs = [entry.event.job for entry in recorded.log if isinstance(entry.event, Submit)]
    return {entry.key for job in jobs for entry in job.circuit.entries if entry.key.startswith("srs")}


def test_the_simulators_decision_log_is_the_engines(recorded: RecordedRun) -> None:
    assert replay_run(recorded) is None


def test_the_real_run_kept_every_rule(recorded: RecordedRun) -> None:
    checked = CheckedPolicy(BudgetPolicy(recorded.limits), recorded.limits)
    for entry in recorded.log:
        assert tuple(checked.handle(entry.event, entry.at_s)) == entry.decisions
    assert not checked.books.jobs
    assert checked.books.host_bytes == checked.books.idle_bytes


def test_another_budget_would_have_decided_otherwise(recorded: RecordedRun) -> None:
    roomier = replace(recorded.limits, budget_bytes=10 * recorded.limits.budget_bytes)
    first_submit = [(entry.at_s, entry.event) for entry in recorded.log[:3]]
    assert first_difference(recorded.log[:3], replay(roomier, first_submit)) is not None
