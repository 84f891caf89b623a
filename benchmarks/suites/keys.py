"""Keys for the circuits, and how long a setup takes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.alternate import alternate
from benchmarks.circuits.files import Files
from benchmarks.circuits.prepared import Circuit, prepare
from benchmarks.contestants.registry import OURS
from benchmarks.suites.bench import Bench, make_points
from benchmarks.suites.ptau import write_ptau
from kernels.fields import Curve

DIFFERENT_POINTS = 1 << 10


def with_keys(bench: Bench, files: Files) -> Files:
    """The same with a key that our own setup made, unless it is there."""
    bench.make("setup", files.zkey, r1cs=str(files.r1cs), zkey=str(files.zkey))
    return files


def setup(bench: Bench) -> None:
    """A development key for a chain of squarings."""
    for curve in bench.plan.curves:
        files = prepare(Circuit("dense", bench.plan.setup_size), curve, bench.folder, bench.report)
        measurement = bench.measurement("setup", curve.name, files.constraints, len(bench.cores))
        output, ptau = bench.folder / "measured.zkey", bench.folder / f"points-{curve.name}.ptau"
        _make_ptau(bench, curve, files.constraints, ptau)
        names = [OURS, "groth16py"]
        if files.constraints < 1 << bench.plan.peers_log2_size:  # it takes minutes
            names.append("snarkjs")
        with bench.team(names, bench.cores) as team:
            arguments = {"r1cs": str(files.r1cs), "zkey": str(output), "ptau": str(ptau)}
            alternate(measurement, team, "setup", arguments, bench.plan.effort, bench.report)
        for made in (output, ptau):
            made.unlink(missing_ok=True)


def _make_ptau(bench: Bench, curve: Curve, n_constraints: int, path: Path) -> None:
    """For a chain of squarings, which has one public signal, so two more rows than constraints."""
    points = [make_points(bench, curve, name, DIFFERENT_POINTS) for name in ("g1", "g2")]
    g1, g2 = (
        np.fromfile(each, np.uint64).reshape(-1, *group.point_shape)
        for each, group in zip(points, (curve.g1, curve.g2), strict=True)
    )
    write_ptau(path, curve, (n_constraints + 1).bit_length(), g1, g2)
