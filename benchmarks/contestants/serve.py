"""A contestant's end: reads tasks, prepares and times them, and answers."""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Job:
    """A prepared task. `run` is what is timed; `answer` turns what it returned into a text to compare.

    times: how often a run does the work, whose time is a run's divided by it.
    """

    run: Callable[[], Any]
    answer: Callable[[Any], str] = lambda _: ""
    details: dict[str, Any] = field(default_factory=dict)
    times: int = 1


Prepare = Callable[..., Job]


def serve(version: str, tasks: Mapping[str, Prepare]) -> None:
    """Answer until stdin ends. The first line out says the version and which tasks there are."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # a library's own words must not mix with answers
    _say(answers, {"version": version, "tasks": sorted(tasks)})
    prepared: tuple[str, Job] | None = None
    for line in sys.stdin:
        if prepared is None or prepared[0] != line:
            prepared = None  # frees the last one's memory first
            request = json.loads(line)
            try:
                prepared = line, tasks[request.pop("task")](**request)
            except Exception as error:
                _say(answers, {"error": f"{type(error).__name__}: {error}"})
                continue
        _say(answers, _timed(prepared[1]))


def _say(answers: Any, message: dict[str, Any]) -> None:
    print(json.dumps(message), file=answers, flush=True)


def _timed(job: Job) -> dict[str, Any]:
    gc.collect()
    try:
        started_s, started_cpu_s = time.perf_counter(), time.process_time()
        result = job.run()
        wall_s, cpu_s = time.perf_counter() - started_s, time.process_time() - started_cpu_s
        answer, times = job.answer(result), job.times
        return {"wall_s": wall_s / times, "cpu_s": cpu_s / times, "answer": answer, "details": job.details}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
