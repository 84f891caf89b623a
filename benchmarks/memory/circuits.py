"""The circuits of these batches: dense ones of a power of two constraints, with development keys."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.circuits.prepared import Circuit, prepare
from engine import CircuitSpec
from groth16.r1cs import read_r1cs
from groth16.setup import setup
from kernels.fields import CURVES
from kernels.parallel import PoolRunner

CURVE = CURVES["bn254"]


@dataclass(frozen=True)
class Made:
    """Where a circuit's key and witness lie."""

    name: str
    zkey: str
    witness: str

    def spec(self, threads: int) -> CircuitSpec:
        return CircuitSpec(self.name, Path(self.zkey), witness=Path(self.witness), proving_threads=threads)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def make(log2_sizes: Sequence[int], folder: Path, report: Callable[[str], None]) -> list[Made]:
    """Make what is not in the folder yet."""
    return [_make(log2_size, folder, report) for log2_size in log2_sizes]


def _make(log2_size: int, folder: Path, report: Callable[[str], None]) -> Made:
    # The domain holds the constraints and the public signals: a few less fill it, and do not double it.
    files = prepare(Circuit("dense", (1 << log2_size) - 8), CURVE, folder, report)
    if not files.zkey.exists():
        report(f"making {files.zkey.name}")
        threads = len(os.sched_getaffinity(0))
        with ThreadPoolExecutor(threads) as pool:
            setup(read_r1cs(files.r1cs), files.zkey, PoolRunner(pool, threads))
    return Made(f"dense-2^{log2_size}", str(files.zkey), str(files.wtns))
