"""Every run of an engine in a test replays in the simulator: the same events decide the same again."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from engine.dispatch import Dispatcher
from policy import Decision, Event, Limits
from sim.kinds import BUDGET
from sim.replay import Recorded, RecordedRun, replay_run


class _Heard:
    """What one policy was told and decided."""

    def __init__(self, limits: Limits, kind: str) -> None:
        self.limits, self.kind = limits, kind
        self.log: list[Recorded] = []

    def take(self, event: Event, decisions: Sequence[Decision], at_s: float) -> None:
        self.log.append(Recorded(at_s, event, tuple(decisions)))

    def difference(self) -> str | None:
        return replay_run(RecordedRun("of the test", self.limits, self.kind, tuple(self.log)))


@contextmanager
def every_run_replays() -> Iterator[None]:
    """Fails after the block with the first decision that a replay takes otherwise."""
    heard: list[tuple[Dispatcher, _Heard]] = []
    real = Dispatcher.__init__

    def init(self: Dispatcher, policy: Any, driver: Any, *rest: Any) -> None:
        real(self, policy, driver, *rest)
        if getattr(policy, "name", "") != BUDGET or not hasattr(driver, "observe"):
            return  # a stand-in of the test's own
        run = _Heard(policy.limits, policy.name)
        heard.append((self, run))
        observe = driver.observe

        def observed(event: Event, decisions: Sequence[Decision], at_s: float) -> None:
            run.take(event, decisions, at_s)
            observe(event, decisions, at_s)

        driver.observe = observed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Dispatcher, "__init__", init)
        yield
    for dispatcher, run in heard:
        if dispatcher.error is not None:
            continue  # a mistake that the test has made on purpose
        difference = run.difference()
        assert difference is None, difference
