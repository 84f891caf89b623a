"""Each task waits for its own stage, keeps nothing of it, and lets errors through."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from prefect import Task
from prefect.cache_policies import NO_CACHE
from prefect.logging import disable_run_logger

from engine import ProofCancelled, ProofFailed, StageSummary
from tasks.admit import admit
from tasks.follow import Ended, started
from tasks.key import Key
from tasks.load import load
from tasks.prove import prove
from tasks.source import source
from tasks.synthesize import synthesize
from tasks.verify import verify

KEY = Key("proof-id", "merkle #2 [3/3]", 2)
STAGES = {"load": load, "synthesize": synthesize, "prove": prove, "verify": verify}
TASKS = {"admit": admit, **STAGES}
SUMMARY = StageSummary(1.5, "domain 4")


@dataclass
class Engine:
    """Has finished every stage, or failed."""

    asked: list[tuple[object, ...]] = field(default_factory=list)
    shown: list[tuple[object, ...]] = field(default_factory=list)
    error: Exception | None = None

    async def wait_finished(self, proof_id: str, stage: str, partition: int) -> StageSummary:
        self.asked.append((proof_id, stage, partition))
        if self.error is not None:
            raise self.error
        return SUMMARY

    def shown_by(self, *shown: object) -> None:
        self.shown.append(shown)

    def has_started(self, _proof_id: str, stage: str, _partition: int) -> bool:
        return self.error is None and stage == "load"

    async def wait_started(self, proof_id: str, stage: str, partition: int) -> None:
        self.asked.append((proof_id, stage, partition))
        if self.error is not None:
            raise self.error

    def times_s(self, *_: object) -> None:
        """Not known."""

    def waited_s(self, _proof_id: str, _partition: int) -> float:
        return 0.5

    def explain(self, proof_id: str, partition: int) -> str:
        return f"{proof_id}[{partition}] waits for memory"


@pytest.fixture
def current() -> Iterator[Engine]:
    running = Engine()
    before = source.set(running)  # type: ignore[arg-type]
    yield running
    source.reset(before)


def run(function: Callable[[Key], Coroutine[Any, Any, Any]]) -> Any:
    with disable_run_logger():
        return asyncio.run(function(KEY))


@pytest.mark.parametrize("stage", ["load", "synthesize", "prove", "verify"])
def test_a_task_waits_for_its_stage(stage: str, current: Engine) -> None:
    ended = run(TASKS[stage].fn)
    assert isinstance(ended, Ended)
    assert vars(ended) == {}  # Prefect takes equal words in two results for an edge between their tasks
    assert current.asked == [("proof-id", stage, 2)]


def test_a_task_run_is_named_to_the_history(current: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    run(prove.fn)
    assert current.shown == []
    monkeypatch.setenv("PREFECT__RUNTIME__TASK_RUN__ID", "task-run")
    run(prove.fn)
    assert current.shown == [("proof-id", "prove", 2, "task-run")]


def test_who_was_admitted_before_does_not_wait(current: Engine) -> None:
    assert isinstance(run(admit.fn), Ended)
    assert current.asked == []


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_a_failure_is_the_task_s(task: Task[..., Any], current: Engine) -> None:
    current.error = ProofFailed("merkle #2: no")
    with pytest.raises(ProofFailed, match="merkle #2: no"):
        run(task.fn)


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_a_cancelled_proof_s_task_is_cancelled(task: Task[..., Any], current: Engine) -> None:
    current.error = ProofCancelled("merkle #2: cancelled")
    state = run(task.fn)
    assert state.is_cancelled()
    assert state.message == "merkle #2: cancelled"


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
@pytest.mark.usefixtures("current")
def test_its_start_is_counted(task: Task[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT__RUNTIME__FLOW_RUN__ID", "flow-run")
    before = started["flow-run"]
    run(task.fn)
    assert started["flow-run"] == before + 1
    del started["flow-run"]


@pytest.mark.parametrize(("name", "task"), TASKS.items(), ids=TASKS)
def test_nothing_is_cached_or_kept_and_the_name_says_what_it_is(name: str, task: Task[..., Any]) -> None:
    assert task.cache_policy == NO_CACHE
    assert task.persist_result is False
    assert isinstance(task.task_run_name, str)
    assert task.task_run_name.format(key=KEY) == f"{name} merkle #2 [3/3]"
