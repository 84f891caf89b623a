"""One real batch in a process of its own: `python -m benchmarks.sim.worker JSON`, kept in a history."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import engine
from benchmarks.memory.circuits import Made, make
from benchmarks.sim.batches import RealBatch
from config import Config, GpusConfig, MemoryConfig, SrsConfig
from db import open_history
from engine import CircuitSpec, Engine, ProofRequest, RunLabels, load_shape, policy_limits

SAMPLE_EVERY_S = 0.05
MARGIN_BYTES = 1 << 30


@dataclass(frozen=True)
class Task:
    """A batch, the run's id and name in the history, and where circuits are kept."""

    batch: dict[str, Any]
    run_id: str
    history: str
    folder: str

    def command(self) -> list[str]:
        return [sys.executable, "-m", "benchmarks.sim.worker", json.dumps(asdict(self))]


def specs_of(names: list[str], folder: Path) -> dict[str, CircuitSpec]:
    """The circuits with their keys: bundled ones, and dense ones such as "dense-2^17"."""
    config = Config(srs=SrsConfig(param_cache=folder), gpus=GpusConfig(devices="none"))
    found = {}
    for name in names:
        if name.startswith("dense-2^"):
            (made,) = make([int(name.removeprefix("dense-2^"))], folder, report)
            found[name] = _dense(made)
        else:
            found[name] = engine.resolve(name, config)
            engine.prepare(found[name], report)
        engine.compile_for_proofs(config, found[name].zkey, report)
    return found


def _dense(made: Made) -> CircuitSpec:
    return made.spec(0)


async def prove(task: Task) -> None:
    batch = RealBatch(**task.batch)
    specs = specs_of(list(batch.counts), Path(task.folder))
    config = Config(
        gpus=GpusConfig(devices="none"),
        memory=MemoryConfig(total_budget=_budget_bytes(batch, specs), ledger="off"),
    )
    limits = policy_limits(config)
    with tempfile.TemporaryDirectory() as output:
        async with Engine(config, limits) as warm:  # so that kernels are loaded, as in a daemon
            for name, spec in specs.items():
                await warm.result(warm.submit(ProofRequest(spec, name, Path(output) / "warm" / name)))
        gc.collect()
        with open_history(task.history) as history, history.writer() as writer:
            labels = RunLabels(batch.name, proof_count=len(batch.in_turn))
            async with Engine(
                config, limits, writer, task.run_id, labels, sample_interval_s=SAMPLE_EVERY_S
            ) as running:
                await _closed_loop(running, batch, specs, Path(output))
            if lost := writer.close():
                raise lost


async def _closed_loop(
    running: Engine, batch: RealBatch, specs: dict[str, CircuitSpec], output: Path
) -> None:
    numbered = iter(enumerate(batch.in_turn))

    async def worker() -> None:
        for number, name in numbered:
            request = ProofRequest(
                specs[name], f"{name} #{number + 1}", output / str(number), batch.partitions
            )
            await running.result(running.submit(request))

    async with asyncio.TaskGroup() as workers:
        for _ in range(batch.concurrency):
            workers.create_task(worker())


def _budget_bytes(batch: RealBatch, specs: dict[str, CircuitSpec]) -> int:
    shapes = [load_shape(spec) for spec in specs.values()]
    working_bytes = max(shape.working_bytes for shape in shapes)
    if batch.working_sets is not None:
        return max(shape.entries_bytes for shape in shapes) + batch.working_sets * working_bytes
    at_once = min(batch.concurrency, 40) * batch.partitions
    return sum(shape.entries_bytes for shape in shapes) + at_once * working_bytes


def report(line: str) -> None:
    """To stderr, so that stdout has results alone."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    asyncio.run(prove(Task(**json.loads(sys.argv[1]))))
