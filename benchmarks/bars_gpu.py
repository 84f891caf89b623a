"""What is to be reached on one NVIDIA H200 (see `bars`)."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.bars import Bar, Figure
from benchmarks.circuits.shaped import POREP_CONSTRAINTS
from benchmarks.contestants.registry import GPU
from benchmarks.results import Result, Runs

PRODUCTS_A_SECOND = {"BLS12-381.Fq": 27e9, "BLS12-381.Fr": 59e9}
SUMS_MS: dict[tuple[str, str], dict[int, float]] = {
    ("bls12381", "g1"): {20: 12, 22: 34, 24: 105, 26: 380},
    ("bn254", "g1"): {20: 6.5, 24: 55, 26: 190},
    ("bls12381", "g2"): {20: 32},
}
TABLED_SUMS_MS = {20: 9, 22: 28, 24: 85, 26: 300}
TRANSFORMS_MS = {20: 0.25, 24: 4.2, 27: 40}
PARTITIONS_S = {1: 1.3, 10: 1.8, 100: 3.2}
CURVE_NAMES = {"bls12381": "BLS12-381", "bn254": "BN254"}


def _figure(
    task: str, curve: str, size: int, of: Callable[[Runs], float]
) -> Callable[[Result], Figure | None]:
    def figure(result: Result) -> Figure | None:
        measurement = result.find(f"gpu {task}", curve, size)
        if measurement is None or GPU not in measurement.runs:
            return None
        return Figure(of(measurement.runs[GPU]), sum(measurement.products.values()) or None)

    return figure


def _ms(runs: Runs) -> float:
    return 1e3 * runs.median_s


def _s(runs: Runs) -> float:
    return runs.median_s


def _ps_an_operation(runs: Runs) -> float:
    return 1e12 * runs.median_s / float(runs.details["operations"])


def _kept_mb(runs: Runs) -> float:
    return float(runs.details["held_bytes"] - runs.details["first_held_bytes"]) / 1e6


GPU_BARS = (
    *(
        Bar(
            f"a product over {name} on the GPU",
            1e12 / rate,
            "ps",
            _figure(f"mul {name}", "bls12381", 1, _ps_an_operation),
        )
        for name, rate in PRODUCTS_A_SECOND.items()
    ),
    *(
        Bar(
            f"{group.upper()} sum of 2^{log2_size}, {CURVE_NAMES[curve]}, points on the GPU",
            most_ms,
            "ms",
            _figure(f"msm {group}", curve, 1 << log2_size, _ms),
        )
        for (curve, group), sizes in SUMS_MS.items()
        for log2_size, most_ms in sizes.items()
    ),
    *(
        Bar(
            f"G1 sum of 2^{log2_size}, BLS12-381, with a table on the GPU",
            most_ms,
            "ms",
            _figure("msm by table g1", "bls12381", 1 << log2_size, _ms),
        )
        for log2_size, most_ms in TABLED_SUMS_MS.items()
    ),
    *(
        Bar(
            f"NTT of 2^{log2_size}, BLS12-381, on the GPU",
            most_ms,
            "ms",
            _figure("ntt", "bls12381", 1 << log2_size, _ms),
        )
        for log2_size, most_ms in TRANSFORMS_MS.items()
    ),
    *(
        Bar(
            f"partition of 2^27, {percent} % of the witness significant, key on the GPU",
            most_s,
            "s",
            _figure(f"partition {percent} %", "bls12381", POREP_CONSTRAINTS, _s),
        )
        for percent, most_s in PARTITIONS_S.items()
    ),
    Bar(
        "proof of 2^20 from its witness, BN254, key on the GPU",
        60,
        "ms",
        _figure("proof dense", "bn254", (1 << 20) - 2, _ms),
    ),
    Bar(
        "what 200 proofs hold of the GPU's memory more than 100 did",
        0,
        "MB",
        _figure("100 proofs dense", "bn254", (1 << 20) - 2, _kept_mb),
    ),
    Bar("development key of 2^26 on the GPU", 60, "s", _figure("setup", "bls12381", (1 << 26) - 400, _s)),
    *(
        Bar(f"{text} with a GPU, {CURVE_NAMES[curve]}", most_s, "s", _figure(task, curve, 1000, _s))
        for curve in CURVE_NAMES
        for task, text, most_s in (
            ("first command", "first command, compiling,", 120),
            ("later command", "later command", 3),
        )
    ),
)
