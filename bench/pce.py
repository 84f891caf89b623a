"""Synthesis by matrices, which are made once, against constraint by constraint, as it is without them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.circuit import Say, Stopwatch, kernel_threads, witness_of
from bench.errors import BenchError
from bench.statistics import Spread, spread
from engine.circuit import OpenCircuit
from groth16.constraint_stream import compile_walk, read_stream, synthesize_by_constraint
from groth16.matrices import read_matrices
from groth16.matrices_file import write_matrices
from groth16.r1cs import read_r1cs_header
from groth16.synthesis import Evaluations, synthesize
from kernels.parallel import serial

BY_CONSTRAINT, BY_MATRICES, BY_MATRICES_ALONE = "by constraint", "by matrices", "by matrices, one thread"


@dataclass(frozen=True)
class PceComparison:
    """`seconds`: by way and step. `equal`: whether both ways gave the same a, b and c; None: not compared."""

    circuit: str
    constraints: int
    terms: int
    matrices_bytes: int
    stream_bytes: int
    threads: int
    equal: bool | None
    seconds: dict[str, Spread]

    @property
    def gain(self) -> float:
        """How many times faster matrices are, with all threads against the one of the other way."""
        return self.seconds[BY_CONSTRAINT].p50_s / self.seconds[BY_MATRICES].p50_s

    @property
    def gain_alone(self) -> float:
        """The same with one thread on both sides."""
        return self.seconds[BY_CONSTRAINT].p50_s / self.seconds[BY_MATRICES_ALONE].p50_s


def compare_ways(
    circuit: OpenCircuit,
    count: int,
    threads: int,
    say: Say,
    *,
    validate: bool = True,
    save: Path | None = None,
) -> PceComparison:
    """Extract the matrices from the key, then synthesize `count` times in each way.

    save: where the matrices are written as they are in memory. Raises BenchError where the circuit's own file
    is not known, and where the two ways differ.
    """
    r1cs = circuit.spec.r1cs
    if r1cs is None:
        raise BenchError(
            f"circuit {circuit.spec.name!r}: constraints one by one need its .r1cs; "
            f"set circuits.{circuit.spec.name}.r1cs in the settings"
        )
    stopwatch = Stopwatch()
    with stopwatch.timed("extract matrices"):
        matrices = read_matrices(circuit.header)
    if save is not None:
        write_matrices(save, matrices, serial)
    with stopwatch.timed("read constraints"):
        stream = read_stream(r1cs)
    witness = witness_of(circuit, stopwatch)
    compile_walk(witness.curve)
    size, equal = circuit.header.domain_size, None
    with kernel_threads(threads) as run:
        for number in range(1, count + 1):
            with stopwatch.timed(BY_CONSTRAINT):
                walked = synthesize_by_constraint(r1cs, stream, witness, size)
            with stopwatch.timed(BY_MATRICES_ALONE):
                multiplied = synthesize(matrices, witness, size, serial)
            del multiplied
            with stopwatch.timed(BY_MATRICES):
                multiplied = synthesize(matrices, witness, size, run)
            if validate and equal is None:
                equal = _check_equal(circuit.spec.name, walked, multiplied)
            del walked, multiplied
            told = [f"{way} {stopwatch.seconds[way][-1]:.3f} s" for way in (BY_CONSTRAINT, BY_MATRICES)]
            say(f"[{number}/{count}] {', '.join(told)}")
    return PceComparison(
        circuit.spec.name,
        read_r1cs_header(r1cs).n_constraints,
        circuit.header.n_coefficients,
        matrices.size_bytes,
        stream.nbytes,
        threads,
        equal,
        {name: found for name, some in stopwatch.seconds.items() if (found := spread(some)) is not None},
    )


def _check_equal(name: str, walked: Evaluations, multiplied: Evaluations) -> bool:
    for part in ("a", "b", "c"):
        one, other = getattr(walked, part), getattr(multiplied, part)
        if not np.array_equal(one, other):
            row = int(np.argmax((one != other).any(axis=1)))
            raise BenchError(
                f"circuit {name!r}: {part} differs in row {row}: the key's matrices and the circuit's file "
                "are of different circuits, or the witness does not satisfy them"
            )
    return True
