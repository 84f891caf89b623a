"""A task that began late has its stage's times all the same."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from prefect.context import TaskRunContext
from prefect.states import Running

from engine.proofs import Progress
from tasks.group import Group
from tasks.real_times import show_real_times


def test_the_run_that_prefect_tells_of_has_the_stage_s_times(monkeypatch: pytest.MonkeyPatch) -> None:
    run = SimpleNamespace(state=Running(), start_time=None, end_time=None)
    monkeypatch.setattr(TaskRunContext, "get", lambda: SimpleNamespace(task_run=run))
    show_real_times((5.0, 2.0))
    assert run.end_time - run.start_time == timedelta(seconds=3)
    now = Running().timestamp
    assert timedelta(seconds=5) <= now - run.start_time < timedelta(minutes=1)
    assert run.state.timestamp - run.start_time == timedelta(seconds=2)  # now, less the three seconds
    before = vars(run).copy()
    show_real_times(None)
    assert vars(run) == before


def test_a_proof_knows_when_each_stage_began_and_ended() -> None:
    progress = Progress("merkle #1", 1)
    progress.submitted_s = 1.0
    assert progress.times_s("admit", 0, 9.0) is None
    progress.start("load", 0, 3.0)
    assert progress.times_s("admit", 0, 9.0) == (8.0, 6.0)
    assert progress.times_s("load", 0, 9.0) is None
    progress.finish("load", 0, 4.5)
    assert progress.times_s("load", 0, 9.0) == (6.0, 4.5)


def test_a_group_has_been_under_way_since_its_first_proof() -> None:
    group = Group("merkle #1-#3", 3)
    assert group.times_s() is None
    group.begin_one("a", "merkle #1")
    times_s = group.times_s()
    group.begin_one("b", "merkle #2")
    assert times_s is not None
    assert times_s[1] == 0.0
    assert (group.times_s() or (0.0, 0.0))[0] >= times_s[0] >= 0.0
