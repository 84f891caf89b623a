"""What Prefect costs: a batch as a flow and the same through the engine alone, in turn, in one process.

Both record in a history, and earlier batches are in it. The flow's time is from its call to its end, with its
artifacts and its report.
"""

from __future__ import annotations

import asyncio
import gc
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from benchmarks.flows.setting import Setting, say, silent

if TYPE_CHECKING:
    from flows.parameters.batch import BatchParameters


@dataclass(frozen=True)
class Cost:
    """Of a batch: seconds by the clock, and processor seconds of this process and of the server."""

    wall_s: float
    cpu_s: float
    server_cpu_s: float


def overhead(where: Setting, count: int, concurrency: int, rounds: int, device: str) -> dict[str, object]:
    """Medians over the rounds, and the flow's wall time over the engine's."""
    from flows.launch import run_batch
    from flows.parameters.batch import batch_parameters

    parameters = batch_parameters(circuit="dense", count=count, concurrency=concurrency, device=device)
    run_batch(batch_parameters(circuit="dense", count=1, device=device), silent)  # imports, kernels, a load
    _engine_alone(parameters)
    alone, flows = list[Cost](), list[Cost]()
    for number in range(rounds):
        pair = [
            (alone, lambda: _engine_alone(parameters)),
            (flows, lambda: run_batch(parameters, silent)),
        ]
        for found, work in pair if number % 2 == 0 else reversed(pair):
            found.append(_measured(where, work))
            gc.collect()
        say(f"round {number + 1}: alone {alone[-1]}, as a flow {flows[-1]}")
    ratios = [flow.wall_s / engine.wall_s for flow, engine in zip(flows, alone, strict=True)]
    return {
        "proofs": count,
        "alone_s": _median(alone),
        "flow_s": _median(flows),
        "ratio": round(statistics.median(ratios), 4),
        "ratios": [round(ratio, 4) for ratio in ratios],
        "cpu_s": [_median_cpu(alone), _median_cpu(flows)],
        "server_cpu_s": round(statistics.median(each.server_cpu_s for each in flows), 3),
    }


def _measured(where: Setting, work: Callable[[], object]) -> Cost:
    begun_s, cpu_s, server_s = time.monotonic(), time.process_time(), _cpu_s(where.server_pid)
    work()
    return Cost(time.monotonic() - begun_s, time.process_time() - cpu_s, _cpu_s(where.server_pid) - server_s)


def _cpu_s(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def _median(costs: list[Cost]) -> float:
    return round(statistics.median(each.wall_s for each in costs), 3)


def _median_cpu(costs: list[Cost]) -> float:
    return round(statistics.median(each.cpu_s for each in costs), 3)


def _engine_alone(parameters: BatchParameters) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_prove(parameters, Path(folder)))


async def _prove(parameters: BatchParameters, output: Path) -> None:
    import engine
    from db import open_history
    from flows.parameters.batch import batch_config
    from flows.parameters.requests import Requests
    from flows.proving.closed_loop import closed_loop

    config = batch_config(parameters, silent)
    limits, count = engine.policy_limits(config), parameters.count
    circuit = engine.with_table(engine.resolve(parameters.circuit, config), count, config, limits)
    requests = Requests(parameters, circuit, output)
    with open_history(config.history_url()) as history, history.writer() as writer:
        async with engine.Engine(config, limits, writer) as current:

            async def one(index: int) -> None:
                await current.result(current.submit(requests[index]))

            await closed_loop(range(count), parameters.concurrency, one)
