"""Keys for the circuits, and how long a setup takes."""

from __future__ import annotations

from benchmarks.alternate import alternate
from benchmarks.circuits.files import Files
from benchmarks.circuits.prepared import Circuit, prepare
from benchmarks.contestants.registry import OURS
from benchmarks.suites.bench import Bench


def with_keys(bench: Bench, files: Files) -> Files:
    """The same with a key that our own setup made, unless it is there."""
    bench.make("setup", files.zkey, r1cs=str(files.r1cs), zkey=str(files.zkey))
    return files


def setup(bench: Bench) -> None:
    """A development key for a chain of squarings."""
    for curve in bench.plan.curves:
        files = prepare(Circuit("dense", bench.plan.setup_size), curve, bench.folder, bench.report)
        measurement = bench.measurement("setup", curve.name, files.constraints, len(bench.cores))
        output = bench.folder / "measured.zkey"
        with bench.team([OURS, "groth16py"], bench.cores) as team:
            arguments = {"r1cs": str(files.r1cs), "zkey": str(output)}
            alternate(measurement, team, "setup", arguments, bench.plan.effort, bench.report)
        output.unlink(missing_ok=True)
