"""The kernels by themselves, on one core: products, sums of points, transforms, matrices, pairings."""

from __future__ import annotations

from benchmarks import counts
from benchmarks.alternate import alternate
from benchmarks.circuits.prepared import prepare
from benchmarks.contestants.registry import OURS, OURS_64
from benchmarks.suites.bench import Bench, make_points, random_scalars
from benchmarks.suites.keys import with_keys
from groth16.zkey import read_header
from kernels.fields import Curve, Field, Group, QuadraticField

PAIRS = 4  # as many as verifying a proof takes


def products(bench: Bench) -> None:
    """Each field's products and squares in registers: the rate that the roofline is made of."""
    with bench.team([OURS, OURS_64], bench.cores[:1]) as team:
        for curve in bench.plan.curves:
            fields: tuple[Field | QuadraticField, ...] = (curve.fq, curve.fq2, curve.fr)
            for field in fields:
                for operation in ("mul", "square"):
                    measurement = bench.measurement(f"{operation} {field.name}", curve.name, 1, 1)
                    arguments = {"field": field.name, "operation": operation}
                    alternate(measurement, team, "product", arguments, bench.plan.effort, bench.report)


def msm(bench: Bench) -> None:
    """Random scalars over different points of each group."""
    for curve in bench.plan.curves:
        for log2_size in bench.plan.log2_sizes:
            for name, group in (("g1", curve.g1), ("g2", curve.g2)):
                _msm(bench, curve, name, group, log2_size)


def _msm(bench: Bench, curve: Curve, name: str, group: Group, log2_size: int) -> None:
    n = 1 << log2_size
    scalars = random_scalars(bench.folder, curve, n)
    points = make_points(bench, curve, name, n)
    arguments = {"curve": curve.name, "group": name, "points": str(points), "scalars": str(scalars)}
    measurement = bench.measurement(f"msm {name}", curve.name, n, 1)
    measurement.products = counts.msm_products(group, counts.Scalars(0, 0, n))
    measurement.details["additions"] = counts.msm_additions(n, group.order.bit_length())
    names = [OURS, OURS_64, "snarkjs", "arkworks"] if log2_size <= bench.plan.peers_log2_size else [OURS]
    with bench.team(names, bench.cores[:1]) as team:
        alternate(measurement, team, "msm", arguments, bench.plan.effort, bench.report)


def ntt(bench: Bench) -> None:
    """Forward over either scalar field. First that all agree, then how fast they are."""
    log2_size = bench.plan.ntt_log2_size
    with bench.team([OURS, OURS_64, "snarkjs"], bench.cores[:1]) as team:
        for curve in bench.plan.curves:
            values = random_scalars(bench.folder, curve, 1 << log2_size)
            arguments = {"curve": curve.name, "values": str(values)}
            measurement = bench.measurement("ntt", curve.name, 1 << log2_size, 1)
            measurement.products = {curve.fr.name: counts.ntt_products(log2_size)}
            alternate(measurement, team, "ntt", arguments, bench.plan.effort, bench.report)


def pairing(bench: Bench) -> None:
    """Whether a product of four pairings is one, as in a proof's verification."""
    with bench.team([OURS, OURS_64, "snarkjs", "arkworks"], bench.cores[:1]) as team:
        for curve in bench.plan.curves:
            measurement = bench.measurement("pairing", curve.name, PAIRS, 1)
            arguments = {"curve": curve.name, "pairs": PAIRS}
            alternate(measurement, team, "pairing", arguments, bench.plan.effort, bench.report)


def spmv(bench: Bench) -> None:
    """Synthesis of the first circuit: A and B times the witness."""
    for curve in bench.plan.curves:
        files = with_keys(bench, prepare(bench.plan.circuits[0], curve, bench.folder, bench.report))
        measurement = bench.measurement(f"synthesis {files.name}", curve.name, files.constraints, 1)
        measurement.products = {curve.fr.name: counts.synthesis_products(read_header(files.zkey))}
        with bench.team([OURS, OURS_64], bench.cores[:1]) as team:
            arguments = {"zkey": str(files.zkey), "wtns": str(files.wtns)}
            alternate(measurement, team, "spmv", arguments, bench.plan.effort, bench.report)
