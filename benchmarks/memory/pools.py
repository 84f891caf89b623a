"""What the sizes of the two pools make of a batch: the same proofs under each choice, in turn."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from config import Config, GpusConfig, MemoryConfig, SynthesisConfig
from engine import CircuitSpec, Engine, ProofRequest, policy_limits

MARGIN_BYTES = 1 << 30
ROUNDS = 3
Choice = tuple[int, int]  # threads of synthesis, threads of proving
Seconds = dict[str, float]


def pools(specs: list[CircuitSpec], proofs: int, report: Callable[[str], None]) -> dict[str, Seconds]:
    """Seconds of a batch of `proofs` of each circuit, all handed in at once, and of its stages, by choice.

    Then of one proof of the first circuit alone. Medians of some rounds in which the choices take turns;
    before them is one that nobody counts.
    """
    found: dict[str, list[Seconds]] = {}
    for number in range(ROUNDS + 1):
        for name, choice in choices(len(os.sched_getaffinity(0))).items():
            seconds = asyncio.run(_batch(specs, proofs, choice))
            report(f"{name}: " + ", ".join(f"{stage} {value:.2f} s" for stage, value in seconds.items()))
            if number:
                found.setdefault(name, []).append(seconds)
    return {
        name: {key: median(each[key] for each in all_) for key in all_[0]} for name, all_ in found.items()
    }


def choices(cores: int) -> dict[str, Choice]:
    """Threads of synthesis and of proving: as many as there are cores together, or more."""
    half, quarter = max(1, cores // 2), max(1, cores // 4)
    return {
        "all and all": (cores, cores),
        "half and all": (half, cores),
        "quarter and all": (quarter, cores),
        "half and half": (half, cores - half or 1),
        "quarter and the rest": (quarter, cores - quarter or 1),
    }


async def _batch(specs: list[CircuitSpec], proofs: int, choice: Choice) -> Seconds:
    synthesis_threads, proving_threads = choice
    config = Config(
        synthesis=SynthesisConfig(threads=synthesis_threads),
        gpus=GpusConfig(devices="none", gpu_threads=proving_threads),
        memory=MemoryConfig(ledger="off", safety_margin=MARGIN_BYTES),
    )
    with tempfile.TemporaryDirectory() as folder:
        async with Engine(config, policy_limits(config)) as engine:
            started_s = time.monotonic()
            requests = [
                ProofRequest(spec, f"{spec.name} #{index}", Path(folder) / f"{spec.name}-{index}")
                for index in range(proofs)
                for spec in specs
            ]
            results = [await engine.result(each) for each in [engine.submit(each) for each in requests]]
            seconds = {"batch": time.monotonic() - started_s}
            started_s = time.monotonic()
            await engine.result(engine.submit(ProofRequest(specs[0], "alone", Path(folder) / "alone")))
            seconds["alone"] = time.monotonic() - started_s
    for stage in ("synthesize", "prove"):
        seconds[stage] = median(each.stage_seconds[stage] for each in results)
    return seconds
