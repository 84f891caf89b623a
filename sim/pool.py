"""Many simulations on all cores, each in a process, answered in the order in which they were asked."""

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

from db import open_history
from sim.answers import Answers
from sim.host_runs import HostRun
from sim.processes import interrupts_left_to_us, processes
from sim.record import record
from sim.run import Progress
from sim.scenario import Scenario, play

Hidden = Literal["paths", "hosts"]


@dataclass(frozen=True)
class Target:
    """The history that runs are recorded in, as `db.open_history` takes it, and what runs are called."""

    address: str
    spool: Path
    hide: Collection[Hidden]
    name: str
    code_version: str


class Case(NamedTuple):
    """A scenario, the seed that it is played by, and where it is recorded, if it is."""

    scenario: Scenario
    seed: int
    target: Target | None = None


@dataclass(frozen=True)
class Recording:
    """Where runs are recorded: of each scenario those by the first `seeds` seeds."""

    target: Target
    seeds: int = 1


class Pool:
    """Plays cases. `recording`: which of them are recorded; None: none."""

    def __init__(
        self,
        executor: ProcessPoolExecutor | None,
        progress: Progress,
        done: Callable[[], None],
        recording: Recording | None,
    ) -> None:
        self._executor, self._progress, self._done = executor, progress, done
        self.recording = recording

    def play(self, cases: Sequence[Case]) -> list[Answers]:
        """The answers, in the order of the cases. Raises what playing raises."""
        if self._executor is None:
            return [self._told(play_case(case, self._progress)) for case in cases]
        with interrupts_left_to_us():
            futures: list[Future[Answers]] = [self._executor.submit(play_case, case) for case in cases]
        return [self._told(future.result()) for future in futures]

    def _told(self, answers: Answers) -> Answers:
        self._done()
        return answers


def play_case(case: Case, progress: Progress | None = None) -> Answers:
    """In whatever process; recorded by that process, too."""
    target = case.target
    played = play(case.scenario, case.seed, with_log=target is not None, progress=progress)
    if target is None:
        return played.answers
    runs = [run for run in played.runs if run.log]
    run_ids = tuple(_record(runs, target, case, progress))
    return replace(played.answers, run_ids=run_ids, first_host=runs[0].name if runs else "")


def _record(runs: Sequence[HostRun], target: Target, case: Case, progress: Progress | None) -> Iterator[str]:
    with (
        open_history(target.address, spool=target.spool, hide=target.hide) as history,
        history.writer() as writer,
    ):
        for run in runs:
            of_host = f", {run.name}" if len(runs) > 1 or len(case.scenario.hosts) > 1 else ""
            changed = "".join(f", {key}={value}" for key, value in (case.scenario.settings or {}).items())
            name = f"{target.name}{changed}{of_host}"
            yield record(run, writer, name=name, code_version=target.code_version, progress=progress)
        if lost := writer.close():
            raise lost


@contextmanager
def pool(
    cases_expected: int,
    progress: Progress,
    done: Callable[[], None] = lambda: None,
    recording: Recording | None = None,
    workers: int = 0,
) -> Iterator[Pool]:
    """A pool of `workers` processes, 0: one a core; `done` is called after each case.

    A single case, and all on a single core, is played in this process, and notes its progress.
    """
    workers = min(workers or cores(), cases_expected)
    if workers < 2:
        yield Pool(None, progress, done, recording)
        return
    with processes(workers) as executor:
        yield Pool(executor, progress, done, recording)


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
