"""Whole proofs, from the key's and the witness's files to the proof's, in a warm process."""

from __future__ import annotations

from benchmarks import counts
from benchmarks.alternate import alternate
from benchmarks.circuits.files import Files
from benchmarks.circuits.prepared import prepare
from benchmarks.contestants.registry import OURS, OURS_64
from benchmarks.suites.bench import Bench
from benchmarks.suites.keys import with_keys
from groth16.witness import read_witness
from groth16.zkey import read_header


def proofs(bench: Bench) -> None:
    """Every circuit of the plan on every curve."""
    for circuit, curve in bench.circuits():
        _proof(bench, with_keys(bench, prepare(circuit, curve, bench.folder, bench.report)))


def _proof(bench: Bench, files: Files) -> None:
    measurement = bench.measurement(f"proof {files.name}", files.curve, files.constraints, len(bench.cores))
    measurement.products = counts.proof_products(read_header(files.zkey), read_witness(files.wtns))
    with bench.team([OURS, OURS_64, "snarkjs", "groth16py"], bench.cores) as team:
        arguments = {
            "zkey": str(files.zkey),
            "wtns": str(files.wtns),
            "proof": str(bench.folder / "proof.json"),
            "public": str(bench.folder / "public.json"),
        }
        alternate(measurement, team, "prove", arguments, bench.plan.effort, bench.report)
