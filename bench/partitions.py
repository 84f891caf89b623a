"""How many partitions at once: the same proofs under each number, and under the memory budget."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.run_folder import versions
from config import Config, format_size
from db import HistoryWriter
from engine import (
    CircuitSpec,
    Engine,
    EngineError,
    ProofRequest,
    RunLabels,
    current,
    load_shape,
    shared_ledger,
)
from policy import BudgetPolicy, Limits
from policy.fixed_concurrency import FixedConcurrency

Say = Callable[[str], None]


@dataclass(frozen=True)
class SweepPoint:
    """`at_once`: partitions between admission and proof, None: as many as the budget admits.

    started_s: since the sweep's start. seconds: of all proofs together, without the loads.
    """

    at_once: int | None
    run_id: str
    proofs: int
    partitions: int
    started_s: float
    seconds: float
    peak_rss_bytes: int
    peak_reserved_bytes: int
    stage_s: dict[str, float]

    @property
    def name(self) -> str:
        """For people."""
        return "by budget" if self.at_once is None else f"{self.at_once} at once"

    @property
    def seconds_a_proof(self) -> float:
        """By the clock."""
        return self.seconds / self.proofs


def fitting(spec: CircuitSpec, limits: Limits, at_once: Sequence[int], say: Say) -> list[int]:
    """Those numbers whose partitions the budget has room for; of each other it is told what it would take."""
    shape, fit = load_shape(spec), []
    for number in at_once:
        needed_bytes = shape.entries_bytes + number * shape.working_bytes
        if needed_bytes <= limits.budget_bytes:
            fit.append(number)
        else:
            needed, budget = format_size(needed_bytes), format_size(limits.budget_bytes)
            say(f"left out: {number} at once take {needed}, the budget is {budget}")
    return fit


def reserved_bytes() -> int:
    """By the engine that runs now; 0 between two."""
    try:
        return current().reserved_bytes
    except EngineError:
        return 0


async def sweep(
    spec: CircuitSpec,
    config: Config,
    limits: Limits,
    at_once: Sequence[int | None],
    proofs: int,
    partitions: int,
    folder: Path,
    writer: HistoryWriter,
    say: Say,
) -> list[SweepPoint]:
    """Prove `proofs` times `partitions` under each number. Raises ProofFailed where one does not succeed."""
    begun_s, points = time.monotonic(), []
    for number in at_once:
        point = await _prove(
            spec, config, limits, number, proofs, partitions, folder / str(number), writer, begun_s
        )
        seconds = (
            f"{point.seconds_a_proof:8.3f} s a proof, {point.seconds_a_proof / partitions:.3f} s a partition"
        )
        say(f"{point.name:<12} {seconds}, peak RSS {format_size(point.peak_rss_bytes)}")
        points.append(point)
    return points


async def _prove(
    spec: CircuitSpec,
    config: Config,
    limits: Limits,
    at_once: int | None,
    proofs: int,
    partitions: int,
    folder: Path,
    writer: HistoryWriter,
    begun_s: float,
) -> SweepPoint:
    policy = BudgetPolicy(limits) if at_once is None else FixedConcurrency(limits, at_once)
    title = f"{spec.name} ×{proofs} · partitions, {'by budget' if at_once is None else at_once}"
    labels = RunLabels(title, versions().get("cuzk", "unknown"), None, str(folder), proofs + 1)
    ledger = shared_ledger(config, title, limits)
    async with Engine(config, limits, writer, None, labels, policy, ledger=ledger) as engine:
        await engine.result(engine.submit(ProofRequest(spec, "loads", folder / "loads", 1)))
        started_s = time.monotonic()
        ids = [
            engine.submit(ProofRequest(spec, f"{spec.name} #{n}", folder / str(n), partitions))
            for n in range(1, proofs + 1)
        ]
        results = await asyncio.gather(*map(engine.result, ids))
        seconds = time.monotonic() - started_s
        stage_s = {
            str(stage): sum(each.stage_seconds[stage] for each in results)
            for stage in results[0].stage_seconds
        }
        return SweepPoint(
            at_once,
            engine.run_id,
            proofs,
            partitions,
            started_s - begun_s,
            seconds,
            engine.peak_rss_bytes,
            engine.peak_reserved_bytes,
            stage_s,
        )
