"""What is to be reached, and whether it is: one row a bar, from one machine's result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.contestants.registry import OURS, OURS_64
from benchmarks.results import Measurement, Result
from kernels.fields import CURVES

SHA_SMALL, SHA_LARGE, DENSE = 62_528, 156_320, 130_000
DENSE_LARGE = (1 << 20) - 2  # with rows for two public signals, a domain of 2^20
SNARKJS_PART = 1 / 15
LONGER_AS_COMMAND_S = 1.2
RESERVED_PART = 1.3
SPARE_BYTES = 250_000_000


@dataclass(frozen=True)
class Figure:
    """A measured number.

    products: how many field products the work takes; processor: the same number by processor time, shared out
    evenly among the threads; each where it is known.
    """

    value: float
    products: float | None = None
    processor: float | None = None


@dataclass(frozen=True)
class Bar:
    """At most `limit` is wanted. `figure` is None for what was not measured."""

    text: str
    limit: float
    unit: str
    figure: Callable[[Result], Figure | None]


def _median(task: str, curve: str, size: int, who: str = OURS) -> Callable[[Result], Figure | None]:
    def figure(result: Result) -> Figure | None:
        measurement = result.find(task, curve, size)
        if measurement is None or who not in measurement.runs:
            return None
        runs = measurement.runs[who]
        return Figure(runs.median_s, _all_products(measurement), runs.median_cpu_s / measurement.threads)

    return figure


def _all_products(measurement: Measurement) -> float | None:
    return sum(measurement.products.values()) or None


def _ratio(
    mine: Callable[[Result], Figure | None], other: Callable[[Result], Figure | None]
) -> Callable[[Result], Figure | None]:
    def figure(result: Result) -> Figure | None:
        a, b = mine(result), other(result)
        if a is None or b is None:
            return None
        processor = None if a.processor is None or not b.processor else a.processor / b.processor
        return Figure(a.value / b.value, a.products, processor)

    return figure


def _longer_as_command(task: str, curve: str, size: int) -> Callable[[Result], Figure | None]:
    def figure(result: Result) -> Figure | None:
        command = _median(f"command {task}", curve, size)(result)
        warm = _median(f"proof {task}", curve, size)(result)
        return None if command is None or warm is None else Figure(command.value - warm.value)

    return figure


def _an_addition(curve: str, size: int) -> Callable[[Result], Figure | None]:
    def figure(result: Result) -> Figure | None:
        measurement = result.find("msm g1", curve, size)
        if measurement is None or OURS not in measurement.runs:
            return None
        runs, each = measurement.runs[OURS], 1e9 / measurement.details["additions"]
        return Figure(runs.median_s * each, _all_products(measurement), runs.median_cpu_s * each)

    return figure


def _memory(task: str, curve: str, size: int) -> Callable[[Result], Figure | None]:
    """Peak RSS over RESERVED_PART of what is reserved and SPARE_BYTES."""

    def figure(result: Result) -> Figure | None:
        measurement = result.find(f"command {task}", curve, size)
        if measurement is None or OURS not in measurement.runs:
            return None
        peak_bytes = measurement.runs[OURS].details["peak_bytes"]
        if not peak_bytes:  # some virtual machines do not tell
            return None
        return Figure(peak_bytes / (RESERVED_PART * measurement.details["reserved_bytes"] + SPARE_BYTES))

    return figure


def _proof_bars() -> list[Bar]:
    wanted = {
        ("sha256", SHA_SMALL): (0.16, 0.65),
        ("sha256", SHA_LARGE): (0.62, 2.5),
        ("dense", DENSE): (1.3, 5.1),
        ("dense", DENSE_LARGE): (9.8, 39),
    }
    bars = []
    for (kind, size), (warm_s, rapidsnark_s) in wanted.items():
        what = f"{kind} {size:,}"
        proof = _median(f"proof {kind}", "bn254", size)
        portable = _median(f"proof {kind}", "bn254", size, OURS_64)
        bars += [
            Bar(f"proof of {what}, BN254, warm", warm_s, "s", proof),
            Bar("the same without IFMA, against rapidsnark's published time", rapidsnark_s, "s", portable),
            Bar(
                "the same as a command, longer by",
                LONGER_AS_COMMAND_S,
                "s",
                _longer_as_command(kind, "bn254", size),
            ),
            Bar(
                "its peak RSS, over 1.3 × the reserved bytes and 250 MB", 1, "×", _memory(kind, "bn254", size)
            ),
        ]
        for curve in CURVES:
            mine = _median(f"proof {kind}", curve, size)
            snarkjs = _median(f"proof {kind}", curve, size, "snarkjs")
            bars.append(Bar(f"the same over snarkjs's, {curve}", SNARKJS_PART, "×", _ratio(mine, snarkjs)))
    return bars


BARS = (
    *_proof_bars(),
    Bar("proof of dense 130,000, BN254, warm", 1.4, "s", _median("proof dense", "bn254", DENSE)),
    Bar("proof of dense 130,000, BLS12-381, warm", 2.0, "s", _median("proof dense", "bls12381", DENSE)),
    Bar("G1 sum of 2^18, BLS12-381, one thread", 0.6, "s", _median("msm g1", "bls12381", 1 << 18)),
    Bar("G1 sum of 2^20, BLS12-381, one thread", 2.0, "s", _median("msm g1", "bls12381", 1 << 20)),
    Bar("an addition in the latter", 100, "ns", _an_addition("bls12381", 1 << 20)),
    *(
        Bar(
            f"G2 sum over G1 sum of {size:,}, {curve}",
            3.2,
            "×",
            _ratio(_median("msm g2", curve, size), _median("msm g1", curve, size)),
        )
        for curve in CURVES
        for size in (1 << 18, 1 << 20)
    ),
    *(
        Bar(f"NTT of 2^20, {curve}, one thread", 0.12, "s", _median("ntt", curve, 1 << 20))
        for curve in CURVES
    ),
    *(
        Bar(f"`cuzk setup` of 2^16 constraints, {curve}", 10, "s", _median("setup", curve, 1 << 16))
        for curve in CURVES
    ),
    *(
        Bar(f"first command, compiling, {curve}", 60, "s", _median("first command", curve, 1000))
        for curve in CURVES
    ),
    *(
        Bar(f"a later command begins to prove, {curve}", 1.5, "s", _median("start of a command", curve, 1000))
        for curve in CURVES
    ),
)
