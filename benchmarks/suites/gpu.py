"""What a GPU does: kernels on data that lies there, whole partitions, and how long it takes to begin."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from benchmarks import counts
from benchmarks.alternate import Effort, alternate, line
from benchmarks.circuits.prepared import Circuit, prepare
from benchmarks.circuits.shaped import POREP_CONSTRAINTS, porep_shape
from benchmarks.contestants.process import Contestant
from benchmarks.contestants.registry import GPU
from benchmarks.results import Runs
from benchmarks.suites.bench import Bench
from benchmarks.suites.commands import SMALL, prove_command, run
from benchmarks.suites.keys import with_keys
from groth16.witness import read_witness
from groth16.zkey import read_header
from kernels.fields import BLS12_381, BN254, Curve, Field, Group, QuadraticField

EFFORT, LONG_EFFORT, ONCE = Effort(runs=7, most_s=2), Effort(runs=3, most_s=20), Effort(runs=1, most_s=60)
SUMS: dict[Curve, Sequence[int]] = {BLS12_381: (20, 22, 24, 26), BN254: (20, 24, 26)}  # log₂ of points in G1
G2_SUM, STREAMED_SUM = 20, 24
TRANSFORMS = 20, 24, 27
QUOTIENT = 24
UPLOAD_BYTES = 4 << 30
KEY_CONSTRAINTS = (1 << 26) - 400  # with its public signals, a domain of 2^26
PERCENTS = 1, 10, 100
DENSE = Circuit("dense", (1 << 20) - 2)  # with its public signals, a domain of 2^20
MANY_PROOFS = 100
LATER_COMMANDS = 3


@contextmanager
def _team(bench: Bench) -> Iterator[list[Contestant]]:
    with bench.team([GPU], bench.all_cores) as team:
        yield team


def _measure(
    bench: Bench,
    team: Sequence[Contestant],
    name: str,
    curve: Curve,
    size: int,
    products: counts.Products,
    task: str,
    arguments: Mapping[str, Any],
    effort: Effort = EFFORT,
) -> None:
    measurement = bench.measurement(f"gpu {name}", curve.name, size, len(bench.all_cores))
    measurement.products = products
    alternate(measurement, team, task, dict(arguments), effort, bench.report)


def kernels(bench: Bench) -> None:
    """Products in registers, sums of points, transforms, the quotient, and how fast memory gets there."""
    with _team(bench) as team:
        if team:
            _products(bench, team)
            _sums(bench, team)
            _transforms(bench, team)
            _measure(bench, team, "upload", BN254, UPLOAD_BYTES, {}, "upload", {"size_bytes": UPLOAD_BYTES})


def _products(bench: Bench, team: Sequence[Contestant]) -> None:
    for curve in bench.plan.curves:
        fields: tuple[Field | QuadraticField, ...] = (curve.fq, curve.fq2, curve.fr)
        for field in fields:
            for operation in ("mul", "square"):
                arguments = {"field": field.name, "operation": operation}
                _measure(bench, team, f"{operation} {field.name}", curve, 1, {}, "product", arguments)


def _sums(bench: Bench, team: Sequence[Contestant]) -> None:
    def measure(name: str, curve: Curve, group: Group, log2_size: int, task: str = "msm") -> None:
        products = counts.msm_products(group, counts.Scalars(0, 0, 1 << log2_size))
        own = "g1" if group is curve.g1 else "g2"
        arguments = {"curve": curve.name, "group": own, "log2_size": log2_size}
        _measure(bench, team, f"{name} {own}", curve, 1 << log2_size, products, task, arguments)

    for curve in bench.plan.curves:
        for log2_size in SUMS[curve]:
            measure("msm", curve, curve.g1, log2_size)
            if curve is BLS12_381:
                measure("msm by table", curve, curve.g1, log2_size, "tabled")
        measure("msm", curve, curve.g2, G2_SUM)
    if BLS12_381 in bench.plan.curves:
        measure("streamed msm", BLS12_381, BLS12_381.g1, STREAMED_SUM, "streamed")


def _transforms(bench: Bench, team: Sequence[Contestant]) -> None:
    for curve in bench.plan.curves:
        for log2_size in TRANSFORMS:
            products = {curve.fr.name: float(counts.ntt_products(log2_size))}
            arguments = {"curve": curve.name, "log2_size": log2_size}
            _measure(bench, team, "ntt", curve, 1 << log2_size, products, "ntt", arguments)
        arguments = {"curve": curve.name, "log2_size": QUOTIENT}
        products = {curve.fr.name: float(counts.quotient_products(QUOTIENT))}
        _measure(bench, team, "quotient", curve, 1 << QUOTIENT, products, "quotient", arguments)


def partitions(bench: Bench) -> None:
    """Keys made on the device, partitions of a PoRep proof's size, and a proof of 2^20 from its witness."""
    with _team(bench) as team:
        if team:
            _proofs(bench, team)
            arguments = {"curve": "bls12381", "constraints": KEY_CONSTRAINTS}
            _measure(bench, team, "setup", BLS12_381, KEY_CONSTRAINTS, {}, "setup", arguments, LONG_EFFORT)
            for percent in PERCENTS:
                _partition(bench, team, BLS12_381, POREP_CONSTRAINTS, percent)


def _proofs(bench: Bench, team: Sequence[Contestant]) -> None:
    files = with_keys(bench, prepare(DENSE, BN254, bench.folder, bench.report))
    header = read_header(files.zkey)
    arguments: dict[str, Any] = {"zkey": str(files.zkey), "wtns": str(files.wtns)}
    products: counts.Products = {BN254.fr.name: counts.synthesis_products(header)}
    _measure(bench, team, "synthesis dense", BN254, files.constraints, products, "spmv", arguments)
    products = counts.proof_products(header, read_witness(files.wtns))
    _measure(bench, team, "proof dense", BN254, files.constraints, products, "proof", arguments)
    many = {field: MANY_PROOFS * count for field, count in products.items()}
    name, arguments = f"{MANY_PROOFS} proofs dense", {**arguments, "proofs": MANY_PROOFS}
    _measure(bench, team, name, BN254, files.constraints, many, "proof", arguments, ONCE)


def _partition(
    bench: Bench, team: Sequence[Contestant], curve: Curve, constraints: int, percent: int
) -> None:
    shape = porep_shape(constraints, percent / 100)
    products = counts.shape_products(curve, shape, (shape.n_constraints + shape.n_public).bit_length())
    arguments = {"curve": curve.name, "constraints": constraints, "percent": percent}
    name = f"partition {percent} %"
    _measure(bench, team, name, curve, constraints, products, "partition", arguments, LONG_EFFORT)


def start(bench: Bench) -> None:
    """`cuzk prove --device 0` where everything has to be compiled, and again; a small circuit."""
    with _team(bench) as team:
        if not team:
            return
    cores = bench.all_cores
    for curve in bench.plan.curves:
        files = with_keys(bench, prepare(SMALL, curve, bench.folder, bench.report))
        outputs = bench.folder / "proof.json", bench.folder / "public.json"
        command = prove_command(files, *outputs, len(cores), "--device", "0")
        with tempfile.TemporaryDirectory(prefix="cuzk-kernels-") as folder:
            ended = [run(command, cores, {"NUMBA_CACHE_DIR": folder}) for _ in range(1 + LATER_COMMANDS)]
        for name, own in (("first command", ended[:1]), ("later command", ended[1:])):
            measurement = bench.measurement(f"gpu {name}", curve.name, files.constraints, len(cores))
            measurement.runs[GPU] = Runs([each.wall_s for each in own], [each.cpu_s for each in own])
            bench.report(line(measurement))
