"""Why a proof does not verify: the first constraint that its witness does not satisfy."""

import sys
from collections.abc import Callable
from pathlib import Path

from engine.errors import EngineError
from groth16.errors import InputError, VerificationFailed
from groth16.r1cs import first_failing_constraint, read_r1cs
from groth16.witness import Witness

# Reading a circuit takes its file's bytes, their copy as CSR and less than as much again on the way.
READING_FACTOR = 3


def needed_bytes(r1cs: Path) -> int:
    """About what `explain` takes beyond the witness; more than any budget has where the file is not there."""
    return READING_FACTOR * r1cs.stat().st_size if r1cs.exists() else sys.maxsize


def explain(r1cs: Path, compute_witness: Callable[[], Witness], found: VerificationFailed) -> EngineError:
    """The error to show for a proof that failed its check: the first failing constraint, if one fails."""
    try:
        row = first_failing_constraint(read_r1cs(r1cs), compute_witness())
    except InputError as error:
        return EngineError(f"{found}; which constraint fails is not known: {error}")
    if row is None:
        return EngineError(
            f"{found}; the witness satisfies {r1cs}, so the key is of another circuit or damaged"
        )
    return EngineError(
        f"the witness does not satisfy the circuit: constraint {row} (from 0) of {r1cs} fails first"
    )
