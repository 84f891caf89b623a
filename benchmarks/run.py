"""One run: what is planned, measured suite by suite and written as it comes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from benchmarks.alternate import Effort
from benchmarks.circuits.prepared import Circuit
from benchmarks.machine import machine
from benchmarks.results import Result
from benchmarks.suites.bench import Bench, Plan
from kernels.fields import Curve

SUITES = {
    "products": "kernels.products",
    "msm": "kernels.msm",
    "ntt": "kernels.ntt",
    "pairing": "kernels.pairing",
    "spmv": "kernels.spmv",
    "setup": "keys.setup",
    "proofs": "proofs.proofs",
    "commands": "commands.commands",
    "start": "commands.start",
    "gpu-kernels": "gpu.kernels",
    "gpu-partitions": "gpu.partitions",
    "gpu-start": "gpu.start",
}
"""The name of each and where it stands below `benchmarks.suites`."""


def plan(quick: bool, log2_sizes: tuple[int, ...], circuits: str, curves: tuple[Curve, ...]) -> Plan:
    """Minutes or half an hour of work. Raises ValueError for circuits that are none."""
    return Plan(
        effort=Effort(runs=3, most_s=6) if quick else Effort(runs=7, most_s=30),
        log2_sizes=log2_sizes,
        peers_log2_size=16 if quick else 24,
        ntt_log2_size=20,
        setup_size=1 << 16,
        circuits=tuple(map(Circuit.parse, circuits.split(","))),
        peers_commands=1 if quick else 9,
        curves=curves,
    )


def run(
    planned: Plan, suites: Sequence[str], threads: int, cores: tuple[int, ...], work: Path, out: Path
) -> Path:
    """Measure on the first `threads` of `cores`; returns the result's file in `out`."""
    result, written = Result(machine(cores[:threads])), out / "result.json"

    def tell(message: str) -> None:
        print(message, file=sys.stderr, flush=True)
        result.write(written)  # what is there so far, should the rest take too long

    for folder in (out, work):
        folder.mkdir(parents=True, exist_ok=True)
    bench = Bench(planned, cores[:threads], cores, work, result, tell)
    for name in suites:
        module, _, suite = SUITES[name].partition(".")
        getattr(import_module(f"benchmarks.suites.{module}"), suite)(bench)
    result.write(written)
    return written
