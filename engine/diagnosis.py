"""Why a proof does not verify: the first constraint that its witness does not satisfy."""

import threading

from engine.calculator_size import compiled_bytes, instance_bytes
from engine.circuit import OpenCircuit
from engine.errors import EngineError
from engine.limits import memory
from groth16 import sizes
from groth16.errors import InputError, VerificationFailed
from groth16.key_check import check_head
from groth16.r1cs import first_failing_constraint, read_r1cs

# Reading a circuit takes its file's bytes, their copy as CSR and less than as much again on the way.
READING_FACTOR = 3

_one_at_a_time = threading.Lock()


def explain(circuit: OpenCircuit, found: VerificationFailed) -> EngineError:
    """The error to show for a proof that failed its check: by constraint if the circuit's file is at hand.

    The witness is made anew, since the proof's own is freed by now. No budget holds what this takes, so it is
    done for one proof at a time, and only if the machine has twice as much to spare. Before the witness is
    suspected the key's head is looked at, on which every proof depends.
    """
    try:
        check_head(circuit.header)
    except InputError as error:
        return EngineError(f"{error}{circuit.spec.key_remedy}")
    r1cs = circuit.spec.r1cs
    if r1cs is None:
        return EngineError(
            f"{found}; give the circuit, with --r1cs FILE or as r1cs in the settings, to name the constraint "
            "that fails"
        )
    with _one_at_a_time:
        try:
            if 2 * needed_bytes(circuit) > memory().available_bytes:
                raise InputError(f"there is not enough memory to read {r1cs}")
            row = first_failing_constraint(read_r1cs(r1cs), circuit.witness_source(None)())
        except InputError as error:
            return EngineError(f"{found}; which constraint fails is not known: {error}")
    if row is None:
        return EngineError(
            f"{found}; the witness satisfies {r1cs}, so the key is of another circuit or damaged"
            f"{circuit.spec.key_remedy}"
        )
    return EngineError(
        f"the witness does not satisfy the circuit: constraint {row} (from 0) of {r1cs} fails first"
    )


def needed_bytes(circuit: OpenCircuit) -> int:
    """What `explain` takes: circuit, witness and calculator. Raises InputError for a file that is gone."""
    wasm, r1cs = circuit.spec.wasm, circuit.spec.r1cs
    calculator_bytes = 0 if wasm is None else compiled_bytes(wasm) + instance_bytes(wasm)
    if r1cs is None or not r1cs.exists():
        raise InputError(f"{r1cs}: is not there")
    return READING_FACTOR * r1cs.stat().st_size + sizes.witness_bytes(circuit.header) + calculator_bytes
