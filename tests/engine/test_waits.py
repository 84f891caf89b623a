"""Every wait has the cause that it lasted longest for, and all its seconds are counted for some cause."""

from pathlib import Path
from typing import Any

import pytest

from engine import CircuitSpec, Engine, ProofRequest, stages
from engine.waits import Waits
from policy import PartitionId, WaitCause
from tests.engine.support import CONFIG, Hold, Rows, limits_for, run

A = PartitionId("a", 0)


class Clock:
    """What a policy would say of the seconds so far."""

    def __init__(self) -> None:
        self.so_far: dict[WaitCause, float] = {}

    def waits(self, partition: PartitionId) -> dict[WaitCause, float]:
        if partition != A:
            raise KeyError(partition)
        return dict(self.so_far)


def test_a_wait_is_counted_by_cause_and_named_by_the_longest() -> None:
    clock, ended = Clock(), {}
    waits = Waits(clock, lambda cause, seconds: ended.update({cause: seconds}))  # type: ignore[arg-type]
    clock.so_far = {WaitCause.LOAD: 9.0, WaitCause.TURN: 1.0}
    waits.begin(A)
    assert list(waits) == [A]
    clock.so_far |= {WaitCause.TURN: 2.0, WaitCause.MEMORY: 4.0}
    assert waits.end(A) == "memory"
    assert ended == {WaitCause.LOAD: 0.0, WaitCause.TURN: 1.0, WaitCause.MEMORY: 4.0}
    assert waits.end(A) is None
    waits.begin(A)
    assert waits.end(A) is None


def test_a_job_that_was_refused_has_no_cause() -> None:
    waits = Waits(Clock(), lambda *_: None)  # type: ignore[arg-type]
    waits.begin(PartitionId("refused", 0))
    assert waits.end(PartitionId("refused", 0)) is None


def test_a_real_run_has_one_cause_for_each_wait_and_the_metrics_add_them_up(
    multiplier: CircuitSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold, rows, text = Hold(stages.prove_points), Rows(), ""
    monkeypatch.setattr(stages, "prove_points", hold)

    async def steps() -> None:
        nonlocal text
        async with Engine(CONFIG, limits_for(multiplier, 1), rows) as running:
            ids = [running.submit(ProofRequest(multiplier, name, tmp_path / name)) for name in ("a", "b")]
            await hold.entered()
            hold.let_go.set()
            for each in ids:
                await running.result(each)
            text = running.metrics_text()

    run(steps())
    waits = [row for row in rows.tables["stage"] if row["name"] in ("wait", "load", "queue")]
    long = [row for row in waits if row["ended_s"] > row["started_s"]]
    assert {row["wait_cause"] for row in long if row["name"] == "load"} == {"load"}
    assert all(row["wait_cause"] in {cause.value for cause in WaitCause} for row in long)
    assert [row for row in rows.tables["stage"] if row["name"] == "prove" and row["wait_cause"]] == []
    values = parsed(text)
    for cause in {row["wait_cause"] for row in long}:
        assert ("wait_seconds_total", cause) in values
    total_s = sum(row["ended_s"] - row["started_s"] for row in waits)
    assert sum(v for (name, _), v in values.items() if name == "wait_seconds_total") == pytest.approx(total_s)
    assert values["proofs_total", "succeeded"] == 2
    assert values["stages_total", "prove"] == 2
    assert values["loads_total", ""] == 3
    assert values["evictions_total", ""] == 0
    assert 0 < values["reserved_bytes", ""] <= values["reserved_peak_bytes", ""] == values["budget_bytes", ""]
    assert 0 < values["rss_file_bytes", ""] < values["rss_bytes", ""]
    measured = values["working_set_measured_bytes_total", "multiplier"]
    assert 0 < measured <= values["working_set_estimated_bytes_total", "multiplier"]


def parsed(text: str) -> dict[tuple[str, str], float]:
    """Each sample by its name and its only label, as the exposition format has them."""
    values: dict[tuple[str, str], float] = {}
    kinds: dict[str, Any] = {}
    for line in text.splitlines():
        if line.startswith("#"):
            _, word, name, rest = line.split(" ", 3)
            assert word in ("HELP", "TYPE")
            kinds.setdefault(name, {})[word] = rest
            continue
        sample, value = line.rsplit(" ", 1)
        name, _, label = sample.partition("{")
        assert kinds[name]["TYPE"] in ("counter", "gauge")
        values[name.removeprefix("cuzk_"), label.rstrip("}").partition("=")[2].strip('"')] = float(value)
    return values
