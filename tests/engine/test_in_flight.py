"""Out of memory while several prove: fewer at once, and again; alone, it is the proof's own failure."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from engine import CircuitSpec, Engine, ProofCancelled, ProofFailed, ProofRequest, load_shape, stages
from engine.in_flight import InFlight
from kernels.parallel import Stopped
from kernels.stop_flag import StopFlag
from policy import Failed, QuotientDone
from tests.engine.support import CONFIG, Hold, Rows, limits_for, run, until


class Short:
    """A stage for which the memory suffices only while few others are in it."""

    def __init__(self, real: Any, most: int) -> None:
        self._real, self._most = real, most
        self.inside, self.failures, self.peak_after_failure = 0, 0, 0
        self._lock, self._all_in = threading.Lock(), threading.Barrier(2)

    def __call__(self, *arguments: Any) -> Any:
        with self._lock:
            self.inside += 1
            first_time = self.failures == 0
            if not first_time:
                self.peak_after_failure = max(self.peak_after_failure, self.inside)
        try:
            if first_time:
                self._all_in.wait(60)  # until there are two
            with self._lock:
                if self.inside > self._most:
                    self.failures += 1
                    raise MemoryError("too many at once")
            return self._real(*arguments)
        finally:
            with self._lock:
                self.inside -= 1


@pytest.mark.parametrize("name", ["quotient_scalars", "prove_points"])
def test_one_that_runs_out_of_memory_is_tried_again_with_fewer(
    multiplier: CircuitSpec,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    name: str,
) -> None:
    short, rows = Short(getattr(stages, name), most=1), Rows()
    monkeypatch.setattr(stages, name, short)

    async def steps() -> None:
        limits = limits_for(multiplier, 2)
        async with Engine(CONFIG, limits, rows) as running:
            ids = [running.submit(ProofRequest(multiplier, str(n), tmp_path / str(n))) for n in range(4)]
            for each in ids:
                await running.result(each)
            assert running.peak_reserved_bytes <= limits.budget_bytes
            assert running.reserved_bytes == load_shape(multiplier).entries_bytes

    run(steps())
    assert short.failures >= 1
    assert short.peak_after_failure == 1
    assert "ran out of memory beside" in caplog.text
    assert [row["state"] for row in rows.tables["proof"]] == ["succeeded"] * 4
    events = rows.log()
    assert [each for each in events if isinstance(each, Failed)] == []
    assert sum(isinstance(each, QuotientDone) for each in events) == 4  # phase 1 is given back once


def test_alone_it_is_the_proofs_failure(
    multiplier: CircuitSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise MemoryError("no more of it")

    monkeypatch.setattr(stages, "prove_points", fail)

    async def steps() -> None:
        async with Engine(CONFIG, limits_for(multiplier, 2)) as running:
            ids = [running.submit(ProofRequest(multiplier, str(n), tmp_path / str(n))) for n in range(3)]
            for each in ids:
                with pytest.raises(ProofFailed, match="MemoryError: no more of it"):
                    await running.result(each)
            assert running.reserved_bytes == load_shape(multiplier).entries_bytes

    run(steps())


def test_who_waits_for_a_turn_can_be_cancelled(
    multiplier: CircuitSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold = Hold(stages.prove_points)
    monkeypatch.setattr(stages, "prove_points", hold)

    async def steps() -> None:
        async with Engine(CONFIG, limits_for(multiplier, 2)) as running:
            running._executor._devices["cpu"].in_flight.limit = 1
            first, second = (
                running.submit(ProofRequest(multiplier, name, tmp_path / name)) for name in ("a", "b")
            )
            await hold.entered()
            await running.wait_started(second, "prove")
            running.cancel(second)
            with pytest.raises(ProofCancelled):
                await running.result(second)
            hold.let_go.set()
            await running.result(first)

    run(steps())


def test_turns_go_round_as_others_leave() -> None:
    async def steps() -> None:
        in_flight, order = InFlight(), []

        async def work(name: str, leave: asyncio.Event) -> None:
            async with in_flight.turn(StopFlag()):
                order.append(name)
                await leave.wait()

        leaves = [asyncio.Event() for _ in range(4)]
        tasks = [asyncio.create_task(work(str(n), leaves[n])) for n in range(2)]
        await until(lambda: in_flight.count == 2)
        assert in_flight.lower()
        assert in_flight.limit == 1
        tasks += [asyncio.create_task(work(str(n), leaves[n])) for n in (2, 3)]
        stopped = StopFlag()
        stopped.set()
        with pytest.raises(Stopped):
            async with in_flight.turn(stopped):
                pass
        for number in range(4):
            await asyncio.sleep(0.01)
            assert len(order) == max(2, number + 1)
            leaves[int(order[number])].set()
        await asyncio.gather(*tasks)
        assert in_flight.count == 0
        assert not in_flight.lower()

    asyncio.run(steps())
