"""Cancelled or failing in any stage, a partition leaves nothing, and the engine goes on."""

import threading
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from engine import (
    CircuitSpec,
    Engine,
    EngineError,
    ProofCancelled,
    ProofFailed,
    ProofRequest,
    load_shape,
    loading,
    stages,
)
from engine.freeing import Watched
from engine.work import Work
from policy import BudgetPolicy, Device, Event, Limits, Stop, Synthesized
from tests.engine.support import CONFIG, Hold, Rows, limits_for, run, until

HOLDS: dict[str, tuple[ModuleType, str]] = {
    "load": (loading, "read_proving_key"),
    "witness": (stages, "check_pair"),
    "synthesize": (stages, "synthesize_rows"),
    "quotient": (stages, "quotient_scalars"),
    "prove": (stages, "prove_points"),
    "verify": (stages, "verify_proof"),
}


@dataclass
class Arrays:
    """Weak references to every array that any partition has ever held."""

    watched: list[Watched] = field(default_factory=list)

    def measure(self, work: Work, real: Any) -> None:
        real(work)
        self.watched.append(Watched(*work._arrays()))

    def held_bytes(self) -> int:
        return sum(each.held_bytes() for each in self.watched)


@pytest.fixture
def arrays(monkeypatch: pytest.MonkeyPatch) -> Arrays:
    seen, real = Arrays(), Work.measure
    monkeypatch.setattr(Work, "measure", lambda work: seen.measure(work, real))
    return seen


@pytest.mark.parametrize("stage", HOLDS)
def test_cancelled_in_any_stage_a_proof_leaves_nothing(
    multiplier: CircuitSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arrays: Arrays, stage: str
) -> None:
    module, name = HOLDS[stage]
    hold, rows, real = Hold(getattr(module, name)), Rows(), getattr(module, name)
    monkeypatch.setattr(module, name, hold)
    entries_bytes = load_shape(multiplier).entries_bytes

    async def steps() -> None:
        async with Engine(CONFIG, limits_for(multiplier, 2), rows) as running:
            proof_id = running.submit(
                ProofRequest(multiplier, "cancelled", tmp_path / "cancelled", partitions=2)
            )
            await hold.entered()
            running.cancel(proof_id)
            if stage in ("load", "witness", "verify"):  # one call without chunks, which no flag interrupts
                hold.let_go.set()
            with pytest.raises(ProofCancelled, match="cancelled: cancelled"):
                await running.result(proof_id)
            assert running.reserved_bytes <= entries_bytes
            if stage == "load":  # the entry stays reserved, and its load goes on, for whoever comes next
                await until(lambda: not hold.held_bytes())
            assert arrays.held_bytes() + hold.held_bytes() == 0
            assert list((tmp_path / "cancelled").iterdir()) == []
            monkeypatch.setattr(module, name, real)
            await running.result(running.submit(ProofRequest(multiplier, "next", tmp_path / "next")))
            running.cancel(proof_id)  # once more is no mistake

    threads_before = set(threading.enumerate())
    run(steps())
    assert set(threading.enumerate()) <= threads_before
    assert len(arrays.watched) > 0
    assert arrays.held_bytes() == 0
    assert [row["state"] for row in rows.tables["partition"]] == ["cancelled", "cancelled", "succeeded"]
    assert [row for row in rows.tables["stage"] if row["ended_s"] is None] == []


@pytest.mark.parametrize("stage", HOLDS)
def test_an_error_in_any_stage_is_the_proofs_and_leaves_nothing(
    multiplier: CircuitSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arrays: Arrays, stage: str
) -> None:
    module, name = HOLDS[stage]
    real = getattr(module, name)

    def fail(*_: Any) -> None:
        raise MemoryError("no more of it")

    monkeypatch.setattr(module, name, fail)

    async def steps() -> None:
        async with Engine(CONFIG, limits_for(multiplier, 2)) as running:
            proof_id = running.submit(ProofRequest(multiplier, "failing", tmp_path / "failing", partitions=2))
            with pytest.raises(ProofFailed, match="failing: MemoryError: no more of it") as failure:
                await running.result(proof_id)
            assert isinstance(failure.value.__cause__, MemoryError)
            assert running.reserved_bytes <= load_shape(multiplier).entries_bytes
            assert arrays.held_bytes() == 0
            monkeypatch.setattr(module, name, real)
            await running.result(running.submit(ProofRequest(multiplier, "next", tmp_path / "next")))

    run(steps())


def test_cancelled_while_it_waits_for_a_device_a_partition_frees_its_arrays(
    multiplier: CircuitSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arrays: Arrays
) -> None:
    hold, rows = Hold(stages.quotient_scalars), Rows()
    monkeypatch.setattr(stages, "quotient_scalars", hold)

    async def steps() -> None:
        limits = limits_for(multiplier, 2, devices=(Device("cpu", 1),))
        async with Engine(CONFIG, limits, rows) as running:
            first = running.submit(ProofRequest(multiplier, "first", tmp_path / "first"))
            await hold.entered()
            second = running.submit(ProofRequest(multiplier, "second", tmp_path / "second"))
            await running.wait_finished(second, "synthesize")
            assert "waits for a device" in running.explain(second)
            reserved_bytes = running.reserved_bytes
            running.cancel(second)
            with pytest.raises(ProofCancelled):
                await running.wait_started(second, "prove")
            assert running.reserved_bytes == reserved_bytes - load_shape(multiplier).working_bytes
            hold.let_go.set()
            await running.result(first)

    run(steps())
    assert arrays.held_bytes() == 0
    assert "waits for a device" in rows.tables["partition"][1]["wait_cause"]


def test_an_evicted_key_is_unmapped_and_its_matrices_are_freed(
    multiplier: CircuitSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    other = replace(multiplier, zkey=tmp_path / "other.zkey")
    other.zkey.write_bytes(multiplier.zkey.read_bytes())
    loaded: list[Watched] = []

    def watch(real: Any, arrays_of: Any) -> Any:
        def load(*arguments: Any) -> Any:
            value = real(*arguments)
            loaded.append(Watched(*arrays_of(value)))
            return value

        return load

    monkeypatch.setattr(
        loading, "read_proving_key", watch(loading.read_proving_key, lambda key: [key.a, key.h])
    )
    monkeypatch.setattr(
        loading.KeyCache,
        "matrices",
        watch(loading.KeyCache.matrices, lambda pce: [pce.a.unit_columns, pce.b.unit_starts]),
    )

    async def steps() -> None:
        async with Engine(CONFIG, limits_for(other, 1)) as running:
            for number, spec in enumerate((multiplier, other)):
                await running.result(running.submit(ProofRequest(spec, str(number), tmp_path / str(number))))
            first_srs, first_pce, second_srs, second_pce = (each.held_bytes() for each in loaded)
            assert (first_srs, first_pce) == (0, 0)
            assert second_srs > 0
            assert second_pce > 0

    run(steps())
    assert [each.held_bytes() for each in loaded] == [0, 0, 0, 0]


class Confused(BudgetPolicy):
    """A policy that contradicts its driver."""

    def handle(self, event: Event, now_s: float) -> Any:
        if isinstance(event, Synthesized):
            return [Stop(event.partition._replace(index=7))]
        return super().handle(event, now_s)


def test_a_mistake_of_ours_ends_everything_and_is_told_to_everyone(
    multiplier: CircuitSpec, tmp_path: Path
) -> None:
    rows = Rows()

    async def steps() -> None:
        limits: Limits = limits_for(multiplier, 2)
        async with Engine(CONFIG, limits, rows, policy=Confused(limits)) as running:
            ids = [running.submit(ProofRequest(multiplier, name, tmp_path / name)) for name in ("a", "b")]
            for each in ids:
                with pytest.raises(EngineError, match="the engine has stopped: KeyError"):
                    await running.result(each)
            with pytest.raises(EngineError, match="takes no more proofs"):
                running.submit(ProofRequest(multiplier, "c", tmp_path / "c"))

    threads_before = set(threading.enumerate())
    run(steps())
    assert set(threading.enumerate()) <= threads_before
    assert rows.tables["run"][0]["state"] == "failed"
