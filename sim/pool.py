"""Many simulations on all cores, each in a process, answered in the order in which they were asked."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import NamedTuple

from sim.answers import Answers
from sim.scenario import Scenario, play


class Case(NamedTuple):
    """A scenario and the seed that it is played by."""

    scenario: Scenario
    seed: int


class Pool:
    """Plays cases."""

    def __init__(self, executor: ProcessPoolExecutor | None, done: Callable[[], None]) -> None:
        self._executor, self._done = executor, done

    def play(self, cases: Sequence[Case]) -> list[Answers]:
        """The answers, in the order of the cases. Raises what playing raises."""
        if self._executor is None:
            return [self._told(play_case(case)) for case in cases]
        futures: list[Future[Answers]] = [self._executor.submit(play_case, case) for case in cases]
        try:
            return [self._told(future.result()) for future in futures]
        except BaseException:
            self._executor.shutdown(wait=False, cancel_futures=True)
            raise

    def _told(self, answers: Answers) -> Answers:
        self._done()
        return answers


def play_case(case: Case) -> Answers:
    """In whatever process."""
    return play(case.scenario, case.seed).answers


@contextmanager
def pool(cases_expected: int, done: Callable[[], None] = lambda: None, workers: int = 0) -> Iterator[Pool]:
    """A pool of `workers` processes, 0: one a core; `done` is called after each case.

    For a single case, or on a single core, everything is played in this process.
    """
    workers = min(workers or cores(), cases_expected)
    if workers < 2:
        yield Pool(None, done)
        return
    # Started anew: a copy of a process with threads may hang.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as executor:
        yield Pool(executor, done)


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
