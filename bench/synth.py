"""Synthesis alone: the witness, then a, b and c by the matrices; no key's points, no GPU, no daemon."""

from __future__ import annotations

from dataclasses import dataclass

from bench.circuit import Say, Stopwatch, kernel_threads, witness_of
from bench.statistics import Spread, spread
from engine.circuit import OpenCircuit
from engine.loading import load_pce
from groth16.synthesis import synthesize


@dataclass(frozen=True)
class SynthesisTimes:
    """What `count` syntheses took; `seconds`: by step, such as "load", "witness" and "synthesize"."""

    circuit: str
    rows: int
    terms: int
    pce_bytes: int
    threads: int
    seconds: dict[str, Spread]

    @property
    def terms_a_second(self) -> float:
        """Of the matrices, by half of the runs."""
        return self.terms / self.seconds["synthesize"].p50_s


def time_synthesis(circuit: OpenCircuit, count: int, threads: int, say: Say) -> SynthesisTimes:
    """Synthesize `count` times, each run's result gone before the next begins, and tell of each."""
    stopwatch = Stopwatch()
    with kernel_threads(threads) as run:
        with stopwatch.timed("load"):
            pce = load_pce(circuit.spec, run)
        for number in range(1, count + 1):
            witness = witness_of(circuit, stopwatch)
            with stopwatch.timed("synthesize"):
                evaluations = synthesize(pce.matrices, witness, circuit.header.domain_size, run)
            del evaluations
            each = {name: some[-1] for name, some in stopwatch.seconds.items() if name != "load"}
            say(f"[{number}/{count}] " + ", ".join(f"{name} {taken:.3f} s" for name, taken in each.items()))
    return SynthesisTimes(
        circuit.spec.name,
        pce.matrices.n_rows,
        circuit.header.n_coefficients,
        pce.size_bytes,
        threads,
        {name: found for name, some in stopwatch.seconds.items() if (found := spread(some)) is not None},
    )
