"""Synthesis without matrices: every constraint evaluated as its turn comes in the circuit's file.

This is what provers do that have no pre-compiled evaluator; here it is what that is measured against.
"""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from groth16.container import read_container
from groth16.errors import InputError
from groth16.r1cs import read_r1cs_header
from groth16.synthesis import Evaluations
from groth16.witness import Witness
from kernels.cpu.constraint_walk import walk
from kernels.fields import Curve

T = TypeVar("T", bound=np.generic)


def read_stream(path: Path) -> NDArray[np.uint32]:
    """The words of a circuit's constraints. Raises InputError for a file that is no circuit."""
    container = read_container(path, "r1cs", 1, {1: "header", 2: "constraints"})
    if container.sections[2].size_bytes % 4:
        raise container.wrong(2, "is no whole number of 32-bit words")
    return np.frombuffer(container.read(2), np.uint32)


def compile_walk(curve: Curve) -> None:
    """Compile what walks, so that a first walk is as quick as the others."""
    nothing = np.zeros((0, 4), np.uint64)
    walk(curve.fr, _read_only(np.zeros(0, np.uint32)), _read_only(nothing), nothing, nothing, nothing, 0)


def synthesize_by_constraint(
    path: Path, words: NDArray[np.uint32], witness: Witness, domain_size: int
) -> Evaluations:
    """The same a, b and c as `groth16.synthesis.synthesize` makes of the key's matrices, by one thread.

    words: as `read_stream` gives them of `path`. The rows after the constraints hold the public signals in
    a, as setups add them. Raises InputError for a witness or stream that is not of the circuit in its head.
    """
    header = read_r1cs_header(path)
    n, n_public = header.n_constraints, header.n_public
    if len(witness.values) != header.n_wires:
        raise InputError(f"the witness has {len(witness.values)} values, the circuit {header.n_wires} wires")
    if n + n_public + 1 > domain_size:
        raise InputError(f"{path}: has {n} constraints, too many for a domain of {domain_size}")
    a, b, c = (np.zeros((domain_size, 4), np.uint64) for _ in range(3))
    stream, values = _read_only(words), _read_only(witness.values)
    if (found := walk(witness.curve.fr, stream, values, a, b, c, n)) < n:
        raise InputError(f"{path}: its constraints end, or name no wire, after {found} of {n}")
    a[n : n + n_public + 1] = witness.values[: n_public + 1]
    return Evaluations(a, b, c)


def _read_only(array: NDArray[T]) -> NDArray[T]:
    """The same memory; numba would compile a kernel twice, for arrays that may be written and others."""
    view = array.view()
    view.flags.writeable = False
    return view
