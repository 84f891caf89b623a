"""A real batch of a small circuit, in this process or as `python -m benchmarks.history.batch JSON`.

As a process it prints a line for each proof, once its files are published, and a last one at the end.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.circuits.prepared import default_folder
from benchmarks.memory.circuits import Made, make
from benchmarks.memory.worker import THREADS
from config import Config, GpusConfig, MemoryConfig, SynthesisConfig
from db import open_history
from engine import Engine, ProofRequest, RunLabels, load_shape
from engine.recorder import Writer
from policy import Device, Limits

SAMPLE_EVERY_S = 0.01
AT_ONCE = 2
CONFIG = Config(
    synthesis=SynthesisConfig(threads=THREADS),
    gpus=GpusConfig(gpu_threads=THREADS),
    memory=MemoryConfig(ledger="off"),
)


@dataclass(frozen=True)
class Task:
    """Prove a circuit so many times, the history at `url`, the proofs in `folder`."""

    url: str
    folder: str
    circuit: dict[str, Any]
    proofs: int
    run_id: str

    def command(self) -> list[str]:
        return [sys.executable, "-m", "benchmarks.history.batch", json.dumps(asdict(self))]


def small_circuit(log2_size: int, report: Callable[[str], None]) -> Made:
    """A dense circuit of that many constraints, made if it is not there."""
    (made,) = make([log2_size], default_folder(), report)
    return made


async def prove(
    task: Task,
    writer: Writer,
    proved: Callable[[str], None],
    around: Callable[[Engine], AbstractContextManager[object]] = nullcontext,
) -> None:
    """Prove within a budget for two at once; `around` is entered while the engine runs."""
    spec = Made(**task.circuit).spec(THREADS)
    shape = load_shape(spec)
    budget_bytes = shape.entries_bytes + AT_ONCE * shape.working_bytes
    limits = Limits(budget_bytes, AT_ONCE, (Device("cpu", AT_ONCE),), 1)
    labels = RunLabels("history", proof_count=task.proofs)
    engine = Engine(CONFIG, limits, writer, task.run_id, labels, sample_interval_s=SAMPLE_EVERY_S)
    async with engine:
        with around(engine):
            names = [f"{spec.name} #{number}" for number in range(task.proofs)]
            ids = [engine.submit(ProofRequest(spec, name, Path(task.folder) / name)) for name in names]
            for name, proof_id in zip(names, ids, strict=True):
                await engine.result(proof_id)
                proved(name)


def main() -> None:
    task = Task(**json.loads(sys.argv[1]))
    with open_history(task.url) as history, history.writer() as writer:
        print("ready", flush=True)
        asyncio.run(prove(task, writer, lambda name: print(name, flush=True)))
        print(f"end {writer.close() or ''}", flush=True)


if __name__ == "__main__":
    main()
