"""Constraints evaluated one by one against the key's matrices; damaged streams are refused."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from groth16.constraint_stream import read_stream, synthesize_by_constraint
from groth16.errors import InputError
from groth16.matrices import read_matrices
from groth16.synthesis import synthesize
from groth16.witness import Witness, read_witness
from groth16.zkey import KeyHeader, read_header
from kernels.fields import CURVES
from kernels.parallel import serial
from tests.groth16 import oracle, proving


@dataclass
class Made:
    """A random circuit's files."""

    r1cs: Path
    header: KeyHeader
    witness: Witness


def make(folder: Path, curve: str = "bn254", **counts: int) -> Made:
    files = proving.set_up(oracle.random_circuit(curve, 5, **counts), folder)
    return Made(files.r1cs, read_header(files.zkey), read_witness(files.wtns))


@pytest.mark.parametrize("curve", sorted(CURVES))
@pytest.mark.parametrize("n_public", [0, 3])
def test_both_ways_give_the_same(tmp_path: Path, curve: str, n_public: int) -> None:
    made = make(tmp_path, curve, n_constraints=9, n_public=n_public, n_private=5)
    size = made.header.domain_size
    walked = synthesize_by_constraint(made.r1cs, read_stream(made.r1cs), made.witness, size)
    multiplied = synthesize(read_matrices(made.header), made.witness, size, serial)
    for part in ("a", "b", "c"):
        np.testing.assert_array_equal(getattr(walked, part), getattr(multiplied, part))


@pytest.mark.parametrize("kept_words", [0, 1, 5, -1])
def test_a_stream_that_ends_early_is_refused_and_nothing_beyond_it_is_read(
    tmp_path: Path, kept_words: int
) -> None:
    made = make(tmp_path)
    words = read_stream(made.r1cs)[:kept_words]
    with pytest.raises(InputError, match="its constraints end"):
        synthesize_by_constraint(made.r1cs, words, made.witness, made.header.domain_size)


def test_a_wire_that_is_not_there_is_refused(tmp_path: Path) -> None:
    made = make(tmp_path)
    words = read_stream(made.r1cs).copy()
    first = int(np.flatnonzero(words)[0])  # of the first combination that has terms
    words[first + 1] = 2**32 - 1
    with pytest.raises(InputError, match="name no wire, after"):
        synthesize_by_constraint(made.r1cs, words, made.witness, made.header.domain_size)


def test_a_witness_of_another_length_or_a_domain_too_small_is_refused(tmp_path: Path) -> None:
    made = make(tmp_path)
    words, size = read_stream(made.r1cs), made.header.domain_size
    short = Witness(made.witness.curve, made.witness.values[:-1].copy())
    with pytest.raises(InputError, match="the circuit"):
        synthesize_by_constraint(made.r1cs, words, short, size)
    with pytest.raises(InputError, match="too many for a domain of 1"):
        synthesize_by_constraint(made.r1cs, words, made.witness, 1)
