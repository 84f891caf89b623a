"""One process of a batch: `python -m benchmarks.memory.worker JSON`; says `ready` and `done` with numbers."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psutil

from benchmarks.memory.circuits import Made
from config import Config, GpusConfig, MemoryConfig, PipelineConfig, SynthesisConfig
from db import open_history
from engine import CircuitSpec, Engine, Ledger, ProofRequest, RunLabels, load_shape
from policy import Circuit, Device, Limits

SAMPLE_EVERY_S = 0.01
THREADS = 2


@dataclass(frozen=True)
class Task:
    """What a worker proves: each circuit `rounds` times, in turn, all submitted at once."""

    run_id: str
    circuits: list[dict[str, Any]]
    rounds: int
    budget_bytes: int
    folder: str
    ledger: str | None = None
    wait_for_stdin: bool = False
    warm_up: bool = True
    history_name: str | None = None
    limits: dict[str, int] = field(default_factory=dict)

    def command(self) -> list[str]:
        return [sys.executable, "-m", "benchmarks.memory.worker", json.dumps(asdict(self))]

    def specs(self) -> list[CircuitSpec]:
        return [Made(**made).spec(THREADS) for made in self.circuits]

    @property
    def history(self) -> Path:
        return Path(self.folder) / (self.history_name or f"{self.run_id}.db")


def limits(task: Task) -> Limits:
    """More slots and workers than memory, so that memory decides."""
    workers = task.limits.get("workers", 2)
    return Limits(task.budget_bytes, workers, (Device("cpu", workers),), 1)


def demand_bytes(shapes: list[Circuit], rounds: int) -> int:
    """What all proofs together would take at once: every working set, and each circuit's entries."""
    working_bytes = sum(shape.working_bytes for shape in shapes) * rounds
    return working_bytes + sum(shape.entries_bytes for shape in shapes)


async def prove(task: Task) -> None:
    config = Config(
        synthesis=SynthesisConfig(threads=THREADS),
        gpus=GpusConfig(gpu_threads=THREADS),
        pipeline=PipelineConfig(),
        memory=MemoryConfig(ledger="off"),
    )
    specs = task.specs()
    if task.warm_up:
        await _warm_up(config, specs[0], task)
    ledger = task.ledger and Ledger(Path(task.ledger), task.run_id, task.budget_bytes)
    with open_history(str(task.history)) as history, history.writer() as writer:
        say(ready=psutil.Process().memory_info().rss)
        if task.wait_for_stdin:
            sys.stdin.readline()
        engine = Engine(
            config,
            limits(task),
            writer,
            task.run_id,
            RunLabels(task.run_id),
            sample_interval_s=SAMPLE_EVERY_S,
            ledger=ledger or None,
        )
        async with engine:
            folder = Path(task.folder) / task.run_id
            requests = [
                ProofRequest(spec, f"{spec.name} #{index}", folder / f"{number}-{index}")
                for index in range(task.rounds)
                for number, spec in enumerate(specs)
            ]
            ids = [engine.submit(request) for request in requests]
            for proof_id in ids:
                await engine.result(proof_id)
            say(proved=len(ids))
        if lost := writer.close():
            raise lost
    say(done=len(ids))


async def _warm_up(config: Config, spec: CircuitSpec, task: Task) -> None:
    """One proof, so that kernels and their scratch memory belong to the start."""
    shape = load_shape(spec)
    most = Limits(shape.entries_bytes + shape.working_bytes, 1, (Device("cpu", 1),))
    async with Engine(config, most) as engine:
        folder = Path(task.folder) / "warm-up" / task.run_id
        await engine.result(engine.submit(ProofRequest(spec, "warm-up", folder)))
    gc.collect()


def say(**numbers: int) -> None:
    print(json.dumps(numbers), flush=True)


if __name__ == "__main__":
    asyncio.run(prove(Task(**json.loads(sys.argv[1]))))
