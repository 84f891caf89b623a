"""A budget that several use: what this process takes of it, how long it waits, and what it gives back."""

import logging
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine import CircuitSpec, Engine, EngineError, ProofRequest, load_shape, share, stages
from engine.ledger import Ledger
from policy import BudgetPolicy, Evict, Load, Shared
from policy.codec import decode_decision, decode_event, decode_limits, encode_limits
from tests.engine.support import CONFIG, Hold, Rows, limits_for, run, until


class Two:
    """An engine, and another process's ledger beside it: here the same process under another name."""

    def __init__(self, spec: CircuitSpec, folder: Path, at_once: int) -> None:
        self.spec, self.folder = spec, folder
        self.limits, self.shape, self.rows = limits_for(spec, at_once), load_shape(spec), Rows()
        path = folder / "memory.json"
        self.other = Ledger(path, "the other", self.limits.budget_bytes)
        self.mine = Ledger(path, "mine", self.limits.budget_bytes)

    def engine(self) -> Engine:
        return Engine(CONFIG, self.limits, self.rows, ledger=self.mine)

    def submit(self, engine: Engine, name: str, partitions: int = 1) -> str:
        return engine.submit(ProofRequest(self.spec, name, self.folder / name, partitions))

    def shares(self) -> list[int]:
        return [message.share_bytes for message in self.rows.log() if isinstance(message, Shared)]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ASK_EVERY_S", "LOOK_EVERY_S", "YIELD_AFTER_S"):
        monkeypatch.setattr(share, name, 0.01)
    for name in ("LEAST_STEP_BYTES", "MOST_STEP_BYTES"):
        monkeypatch.setattr(share, name, 64)


@pytest.fixture
def two(multiplier: CircuitSpec, tmp_path: Path) -> Two:
    return Two(multiplier, tmp_path, at_once=2)


def go(steps: Coroutine[Any, Any, None]) -> None:
    run(steps)


def test_alone_a_process_takes_what_it_needs_and_keeps_what_it_reserves(two: Two) -> None:
    async def steps() -> None:
        async with two.engine() as engine:
            await engine.result(two.submit(engine, "a", partitions=3))
            assert engine.peak_reserved_bytes == two.limits.budget_bytes
            assert engine.reserved_bytes <= two.mine.share_bytes <= engine.reserved_bytes + 64
        assert two.other.look()[1] == []

    go(steps())
    assert two.shares()[0] == 0
    assert max(two.shares()) <= two.limits.budget_bytes


def test_what_others_hold_is_waited_for_and_named(two: Two, caplog: pytest.LogCaptureFixture) -> None:
    async def steps() -> None:
        two.other.take(two.limits.budget_bytes)
        async with two.engine() as engine:
            proof = two.submit(engine, "a")
            await until(lambda: two.other.look()[1][0].ticket is not None)
            sentence = engine.explain(proof)
            assert "waits for memory that other processes hold" in sentence
            assert "the other (process " in sentence
            two.other.give_back(0)
            await engine.result(proof)

    with caplog.at_level(logging.INFO, "cuzk.engine"):
        go(steps())
    assert "waiting for a share of" in caplog.text
    assert "the wait for a share of the memory is over" in caplog.text
    assert two.rows.tables["partition"][0]["wait_cause"].startswith("waits for memory that other processes")


def test_idle_keys_go_to_another_that_waits_and_are_loaded_again(two: Two) -> None:
    async def steps() -> None:
        async with two.engine() as engine:
            await engine.result(two.submit(engine, "a"))
            assert engine.reserved_bytes == two.shape.entries_bytes
            assert two.other.ask(two.limits.budget_bytes, two.limits.budget_bytes) == 0
            await until(lambda: two.mine.share_bytes == 0)
            assert engine.reserved_bytes == 0
            assert two.other.ask(two.limits.budget_bytes, two.limits.budget_bytes) == two.limits.budget_bytes
            two.other.leave()
            await engine.result(two.submit(engine, "b"))

    go(steps())
    evicted = [message.entry for message in two.rows.log() if isinstance(message, Evict)]
    assert sorted(entry.key for entry in evicted) == sorted(entry.key for entry in two.shape.entries)
    assert sum(isinstance(message, Load) for message in two.rows.log()) == 2 * len(evicted)


def test_a_key_in_use_is_not_given_up(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    hold = Hold(stages.prove_points)
    monkeypatch.setattr(stages, "prove_points", hold)

    async def steps() -> None:
        async with two.engine() as engine:
            proof = two.submit(engine, "a")
            await hold.entered()
            reserved_bytes = engine.reserved_bytes
            assert two.other.ask(two.limits.budget_bytes, two.limits.budget_bytes) == 0
            await until(lambda: two.mine.share_bytes == reserved_bytes)  # even the step is given back
            hold.let_go.set()
            await engine.result(proof)

    go(steps())


def test_after_its_turn_a_process_with_work_left_lets_go_of_what_is_in_use(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(share, "TURN_S", 0.05)
    monkeypatch.setattr(share, "TURN_S_PER_GIB", 0.0)
    whole_bytes = two.limits.budget_bytes

    async def steps() -> None:
        async with two.engine() as engine:
            proof = two.submit(engine, "a", partitions=200)
            await until(lambda: two.mine.share_bytes == whole_bytes)
            assert two.other.ask(whole_bytes, whole_bytes) == 0
            await until(lambda: two.other.ask(whole_bytes, whole_bytes) == whole_bytes)
            assert not engine.has_ended(proof)
            await until(lambda: "the other (process " in engine.explain(proof, 199))
            two.other.leave()
            await engine.result(proof)

    go(steps())
    assert sum(isinstance(message, Load) for message in two.rows.log()) == 2 * len(two.shape.entries)


def test_an_idle_key_is_kept_for_a_job_of_another_while_there_is_memory_that_nobody_holds(two: Two) -> None:
    copy = two.folder / "copy.zkey"
    copy.write_bytes(two.spec.zkey.read_bytes())
    other_spec = replace(two.spec, zkey=copy)
    both_bytes = two.shape.entries_bytes + load_shape(other_spec).entries_bytes
    two.limits = replace(two.limits, budget_bytes=both_bytes + two.shape.working_bytes)
    two.mine = Ledger(two.mine.path, "mine", two.limits.budget_bytes)

    async def steps() -> None:
        async with two.engine() as engine:
            await engine.result(two.submit(engine, "a"))
            await engine.result(engine.submit(ProofRequest(other_spec, "b", two.folder / "b")))

    go(steps())
    assert [message for message in two.rows.log() if isinstance(message, Evict)] == []


def test_the_log_replays_to_the_same_decisions(two: Two) -> None:
    async def steps() -> None:
        two.other.take(two.limits.budget_bytes - 1)
        async with two.engine() as engine:
            proof = two.submit(engine, "a", partitions=2)
            await until(lambda: two.other.look()[1][0].ticket is not None)
            two.other.leave()
            await engine.result(proof)

    go(steps())
    policy = BudgetPolicy(decode_limits(encode_limits(two.limits)))
    for row in two.rows.tables["policy_event"]:
        decisions = policy.handle(decode_event(row["event"]), row["at_s"])
        assert decisions == [decode_decision(each) for each in row["decisions"]]


def test_a_ledger_that_is_lost_in_the_middle_costs_a_word_and_the_run_goes_on(
    two: Two, caplog: pytest.LogCaptureFixture
) -> None:
    async def steps() -> None:
        async with two.engine() as engine:
            await engine.result(two.submit(engine, "a"))
            two.mine.path.write_text("no ledger")
            await until(lambda: "is no ledger" in caplog.text)
            two.mine.path.unlink()
            await engine.result(two.submit(engine, "b"))

    go(steps())
    assert caplog.text.count("is no ledger") == 1


def test_the_cause_is_memory_where_no_share_would_do(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    hold = Hold(stages.prove_points)
    monkeypatch.setattr(stages, "prove_points", hold)

    async def steps() -> None:
        async with two.engine() as engine:
            proofs = [two.submit(engine, str(number)) for number in range(4)]
            await hold.entered()
            await until(lambda: engine.reserved_bytes >= two.shape.entries_bytes)
            assert "other processes" not in engine.explain(proofs[-1])
            hold.let_go.set()
            for proof in proofs:
                await engine.result(proof)

    go(steps())


def test_a_ledger_that_cannot_be_used_is_told_to_who_asks_and_logged_once(
    two: Two, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    looks = []

    def fail(*_: int) -> int:
        looks.append(1)
        raise EngineError("memory.json: it is on fire")

    async def steps() -> None:
        two.other.take(two.limits.budget_bytes)
        async with two.engine() as engine:
            proof = two.submit(engine, "a")
            await until(lambda: two.mine.ticket is not None)
            monkeypatch.setattr(two.mine, "ask", fail)
            await until(lambda: len(looks) > 3)
            assert engine.explain(proof).endswith("; memory.json: it is on fire")
            monkeypatch.undo()
            two.other.give_back(0)
            await engine.result(proof)

    go(steps())
    assert caplog.messages.count("memory.json: it is on fire") == 1
