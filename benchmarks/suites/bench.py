"""What every suite works with: the plan, the cores, the folder, and the result that they fill."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.alternate import Effort
from benchmarks.circuits.prepared import Circuit
from benchmarks.contestants.process import Contestant, ContestantError
from benchmarks.contestants.registry import OURS, team
from benchmarks.results import Measurement, Result
from kernels.fields import Curve


@dataclass(frozen=True)
class Plan:
    """How much to measure.

    log2_sizes: of sums of points; peers_log2_size: the largest that peers take part in, in setups also;
    setup_size: constraints; peers_commands: of how many circuits peers are run as commands.
    """

    effort: Effort
    log2_sizes: tuple[int, ...]
    peers_log2_size: int
    ntt_log2_size: int
    setup_size: int
    circuits: tuple[Circuit, ...]
    peers_commands: int
    curves: tuple[Curve, ...]


@dataclass(frozen=True)
class Bench:
    """One run of the benchmarks. Measured are programs on `cores`; what they need is made on `all_cores`."""

    plan: Plan
    cores: tuple[int, ...]
    all_cores: tuple[int, ...]
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

    def make(self, task: str, made: Path, **arguments: str) -> None:
        """Let cuzk make a file that others need, unless it is there. Raises ContestantError."""
        if not made.exists():
            self.report(f"making {made.name}")
            with self.team([OURS], self.all_cores) as contestants:
                if not contestants:
                    raise ContestantError(f"cuzk itself does not start: {self.result.missing[OURS]}")
                contestants[0].measure(task, **arguments)

    def circuits(self) -> Iterator[tuple[Circuit, Curve]]:
        """Those of the plan on each of their curves."""
        for circuit in self.plan.circuits:
            for curve in self.plan.curves:
                if curve.name in circuit.curves:
                    yield circuit, curve

    def measurement(self, task: str, curve: str, size: int, threads: int) -> Measurement:
        """A new one, part of the result."""
        made = Measurement(task, curve, size, threads)
        self.result.measurements.append(made)
        return made


def random_scalars(folder: Path, curve: Curve, n: int, seed: int = 1) -> Path:
    """n canonical elements of Fr that look random, in a file of 4 limbs each; kept for the next run."""
    path = folder / f"scalars-{n}-{seed}-{curve.name}.bin"
    if not path.exists():
        random = np.random.default_rng(seed)
        limbs = random.integers(0, 1 << 64, (n, 4), dtype=np.uint64)
        limbs[:, 3] = random.integers(0, curve.fr.modulus >> 192, n, dtype=np.uint64)
        limbs.tofile(path)
    return path


def make_points(bench: Bench, curve: Curve, group: str, n: int) -> Path:
    """n multiples of the generator of "g1" or "g2" in a file, as keys hold them; kept for the next run."""
    path = bench.folder / f"points-{n}-{curve.name}-{group}.bin"
    scalars = random_scalars(bench.folder, curve, n, seed=2)
    bench.make("make_points", path, curve=curve.name, group=group, scalars=str(scalars), path=str(path))
    return path
