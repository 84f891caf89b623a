"""What every suite works with: the plan, the cores, the folder, and the result that they fill."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.alternate import Effort
from benchmarks.circuits.prepared import Circuit
from benchmarks.contestants.process import Contestant
from benchmarks.contestants.registry import OURS, team
from benchmarks.results import Measurement, Result
from kernels.fields import Curve


@dataclass(frozen=True)
class Plan:
    """How much to measure. log2_sizes are those of sums of points; setup_sizes are constraints."""

    effort: Effort
    log2_sizes: tuple[int, ...]
    ntt_log2_size: int
    setup_size: int
    circuits: tuple[Circuit, ...]
    curves: tuple[Curve, ...]


@dataclass(frozen=True)
class Bench:
    """One run of the benchmarks."""

    plan: Plan
    cores: tuple[int, ...]
    folder: Path
    result: Result
    report: Callable[[str], None]

    @contextmanager
    def team(self, names: Sequence[str], cores: Sequence[int]) -> Iterator[list[Contestant]]:
        """These contestants, ourselves first; who cannot start is told once, and left out from then on."""
        known = set(self.result.missing)
        with team(names, cores, self.result.missing) as contestants:
            for name in self.result.missing.keys() - known:
                self.report(f"without {name}: {self.result.missing[name]}")
            self.result.versions.update({each.name: each.version for each in contestants})
            yield contestants

    @contextmanager
    def ours(self, cores: Sequence[int]) -> Iterator[Contestant]:
        """cuzk alone, to prepare what others need. Raises ContestantError."""
        with self.team([OURS], cores) as contestants:
            if not contestants:
                raise RuntimeError(f"cuzk itself does not start: {self.result.missing[OURS]}")
            yield contestants[0]

    def measurement(self, task: str, curve: str, size: int, threads: int) -> Measurement:
        """A new one, part of the result."""
        made = Measurement(task, curve, size, threads)
        self.result.measurements.append(made)
        return made


def random_scalars(curve: Curve, n: int, path: Path) -> Path:
    """n canonical elements of Fr that look random, as a file of 4 limbs each; kept for the next run."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        random = np.random.default_rng(n)
        limbs = random.integers(0, 1 << 64, (n, 4), dtype=np.uint64)
        limbs[:, 3] = random.integers(0, curve.fr.modulus >> 192, n, dtype=np.uint64)
        limbs.tofile(path)
    return path
