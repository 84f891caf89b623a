"""A large batch on a modelled machine, how soon a flow starts, and how the server answers meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from benchmarks.flows.setting import Setting, eventually, silent


def simulated(where: Setting, count: int, partitions: int) -> dict[str, object]:
    """Seconds of the whole flow, and the longest that the UI's questions took while it ran."""
    from flows.launch import run_batch
    from flows.parameters.batch import batch_parameters

    parameters = batch_parameters(
        circuit="multiplier", count=count, partitions=partitions, concurrency=20, mode="simulated"
    )
    run_batch(batch_parameters(circuit="multiplier", count=1, mode="simulated"), silent)
    begun_s = time.monotonic()
    with _asking(where) as answers_s:
        summary = run_batch(parameters, silent)
    seconds = time.monotonic() - begun_s
    run_id = str(summary.flow_run_url).rsplit("/", 1)[1]
    return {
        "proofs": count,
        "partitions": partitions,
        "seconds": round(seconds, 1),
        "headline": summary.headline,
        "tasks": where.count_tasks(run_id),
        "answers": len(answers_s),
        "slowest_answer_s": round(max(answers_s), 2),
    }


@contextmanager
def _asking(where: Setting) -> Iterator[list[float]]:
    """Inside the block, the list of runs is asked for as the UI does."""
    done, answers_s = threading.Event(), list[float]()

    def ask() -> None:
        while not done.wait(0.5):
            begun_s = time.monotonic()
            where.newest_flow_run()
            answers_s.append(time.monotonic() - begun_s)

    asker = threading.Thread(target=ask, daemon=True)
    asker.start()
    try:
        yield answers_s
    finally:
        done.set()
        asker.join()


def start(where: Setting, times: int) -> dict[str, object]:
    """Seconds from the call of the flow until it runs, and until its first task does, by the server."""
    from flows.launch import run_batch
    from flows.parameters.batch import batch_parameters

    run_batch(batch_parameters(circuit="multiplier", count=1), silent)
    running, first = list[float](), list[float]()
    for _ in range(times):
        begun = datetime.now(UTC)
        summary = run_batch(batch_parameters(circuit="multiplier", count=1), silent)
        run_id = str(summary.flow_run_url).rsplit("/", 1)[1]
        eventually(lambda run_id=run_id: where.count_tasks(run_id) >= 4, 30.0)  # type: ignore[misc]
        run = where.flow_run(run_id)
        tasks = where.ask("task_runs/filter", flow_runs={"id": {"any_": [run_id]}})
        running.append(_after(begun, run["start_time"]))
        first.append(min(_after(begun, task["start_time"]) for task in tasks))
    return {"running_s": running, "first_task_s": first, "most_s": max(running)}


def _after(begun: datetime, text: str) -> float:
    return round((datetime.fromisoformat(text) - begun).total_seconds(), 2)
