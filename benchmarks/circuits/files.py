"""A circuit and its witness, and how they are written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groth16.container_writer import payload, write_container
from groth16.r1cs import Csr, R1cs
from groth16.witness import Witness, write_witness

_COUNT_WORDS = 1  # before each linear combination
_TERM_WORDS = 9  # of 32 bits: the wire, and the coefficient's 32 bytes


@dataclass(frozen=True)
class Instance:
    """A circuit and a witness that satisfies it."""

    r1cs: R1cs
    witness: Witness


@dataclass(frozen=True)
class Files:
    """Where an instance and its key lie. `name` says which circuit, `constraints` its size."""

    name: str
    constraints: int
    curve: str
    r1cs: Path
    wtns: Path
    zkey: Path


def write_instance(instance: Instance, r1cs: Path, wtns: Path) -> None:
    """Write both files. Raises InputError if that is impossible."""
    write_r1cs(r1cs, instance.r1cs)
    write_witness(wtns, instance.witness)


def write_r1cs(path: Path, r1cs: R1cs) -> None:
    """Write a circuit in iden3's format (layout: `groth16.r1cs`), labels as wires are numbered."""
    fr = r1cs.curve.fr
    head = [
        fr.element_bytes.to_bytes(4, "little"),
        fr.modulus.to_bytes(fr.element_bytes, "little"),
        *(
            count.to_bytes(4, "little")
            for count in (
                r1cs.n_wires,
                r1cs.n_public_outputs,
                r1cs.n_public_inputs,
                r1cs.n_private_inputs,
            )
        ),
        r1cs.n_wires.to_bytes(8, "little"),
        r1cs.n_constraints.to_bytes(4, "little"),
    ]
    sections = [
        payload(1, b"".join(head)),
        payload(2, _constraint_words((r1cs.a, r1cs.b, r1cs.c))),
        payload(3, np.arange(r1cs.n_wires, dtype=np.uint64)),
    ]
    write_container(path, "r1cs", 1, sections, aligned=False)


def _constraint_words(matrices: tuple[Csr, Csr, Csr]) -> NDArray[np.uint32]:
    """Row after row its combinations in A, B and C, each a count and as many terms, in 32-bit words."""
    counts = np.stack([np.diff(matrix.row_starts) for matrix in matrices], axis=1)
    sizes = _COUNT_WORDS + _TERM_WORDS * counts.ravel()
    starts = (np.cumsum(sizes) - sizes).reshape(counts.shape)
    words = np.zeros(int(sizes.sum()), np.uint32)
    for which, matrix in enumerate(matrices):
        words[starts[:, which]] = counts[:, which]
        number_in_row = np.arange(len(matrix.columns)) - np.repeat(matrix.row_starts[:-1], counts[:, which])
        firsts = np.repeat(starts[:, which], counts[:, which]) + _COUNT_WORDS + _TERM_WORDS * number_in_row
        words[firsts] = matrix.columns
        limbs = np.ascontiguousarray(matrix.coefficients).view(np.uint32)
        words[firsts[:, None] + np.arange(1, _TERM_WORDS)] = limbs
    return words
