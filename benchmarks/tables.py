"""What tables of multiples take off a sum, and how many sums it costs to make one.

    python -m benchmarks.tables [--threads N] [LOG2_SIZE …]

Sums over G1 of random scalars, with a table and without in turn, from mapped files: processor time, and the
median of the ratios. CUZK_LANES=off measures 64-bit limbs.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from secrets import randbelow
from statistics import median

import numpy as np

from kernels.cpu.fixed_base import multiply_generator
from kernels.cpu.msm import msm
from kernels.cpu.tables import Table, make_table
from kernels.encoding import Limbs, ints_to_limbs
from kernels.fields import CURVES, Group
from kernels.parallel import PoolRunner, Run, serial

LOG2_SIZES = (13, 14, 15, 16, 17, 18)
RUNS = 15


@dataclass(frozen=True)
class Gain:
    """Processor time: of a sum, of one with a table by it, and of the table's making by it."""

    plain_s: float
    ratio: float
    making: float


def measure(G: Group, n: int, run: Run, folder: Path, runs: int = RUNS) -> Gain:
    """Raises ValueError where the two sums differ."""
    points, scalars = multiply_generator(G, _random(G, n), run), _random(G, n)
    started_s = time.process_time()
    made = make_table(G, points, run).points
    making_s = time.process_time() - started_s
    plain, table = _mapped(points, folder / "points"), Table(_mapped(made, folder / "table"))
    if not np.array_equal(msm(G, plain, scalars, run), msm(G, table, scalars, run)):
        raise ValueError(f"the sums over {n} points with a table and without differ")
    taken = [
        (_seconds(lambda: msm(G, plain, scalars, run)), _seconds(lambda: msm(G, table, scalars, run)))
        for _ in range(runs)
    ]
    plain_s = median(each for each, _ in taken)
    return Gain(plain_s, median(with_table / each for each, with_table in taken), making_s / plain_s)


def _random(G: Group, n: int) -> Limbs:
    return ints_to_limbs([randbelow(G.order) for _ in range(n)], 4)


def _mapped(array: Limbs, path: Path) -> Limbs:
    array.tofile(path)
    return np.memmap(path, array.dtype, "r", shape=array.shape)


def _seconds(work: Callable[[], object]) -> float:
    started_s = time.process_time()
    work()
    return time.process_time() - started_s


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tables", description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("log2_sizes", nargs="*", type=int, default=LOG2_SIZES)
    options = parser.parse_args()
    print("curve     points  threads      sum  with a table  to make", flush=True)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.threads) as pool:
        run = serial if options.threads == 1 else PoolRunner(pool, options.threads)
        for curve in CURVES.values():
            for log2_size in options.log2_sizes:
                gain = measure(curve.g1, 1 << log2_size, run, Path(folder))
                print(
                    f"{curve.name:9}{f'2^{log2_size}':>7}{options.threads:9}{gain.plain_s * 1e3:6.1f} ms"
                    f"{gain.ratio:13.2f}{gain.making:7.1f} sums",
                    flush=True,
                )


if __name__ == "__main__":
    main()
