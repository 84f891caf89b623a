from __future__ import annotations

import random
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groth16 import matrices as module
from groth16 import sizes
from groth16.matrices import Matrices, read_matrices
from groth16.r1cs import Csr, read_r1cs
from groth16.zkey import read_header
from kernels.encoding import limbs_to_ints
from tests.groth16 import oracle
from tests.groth16.samples import CURVES, rebuilt, refuses, sample, sections_of
from tests.groth16.test_r1cs import rows_of

Term = tuple[int, int, int, int]  # matrix, row, wire, coefficient as stored
TERMS = st.tuples(st.integers(0, 1), st.integers(0, 15), st.integers(0, 13), st.integers(0, 2**250))
BN254 = sample("bn254", "sample.zkey")


def section(terms: list[Term]) -> bytes:
    packed = [struct.pack("<III", *where) + value.to_bytes(32, "little") for *where, value in terms]
    return struct.pack("<I", len(terms)) + b"".join(packed)


def with_terms(terms: list[Term], folder: Path) -> Path:
    return rebuilt(BN254, folder / "terms.zkey", {4: section(terms)})


def terms_of(matrices: Matrices) -> list[Term]:
    def of(index: int, csr: Csr) -> list[Term]:
        rows = np.repeat(np.arange(matrices.n_rows), np.diff(csr.row_starts)).tolist()
        values = limbs_to_ints(csr.coefficients)
        return [(index, *term) for term in zip(rows, csr.columns.tolist(), values, strict=True)]

    return of(0, matrices.a) + of(1, matrices.b)


@pytest.mark.parametrize("curve", CURVES)
def test_snarkjss_matrices_are_the_circuits_with_rows_that_bind_public_signals(curve: str) -> None:
    path, r1cs = sample(curve, "sample.zkey"), read_r1cs(sample(curve, "sample.r1cs"))
    matrices, modulus = read_matrices(path), oracle.MODULI[curve]
    r_squared = pow(2, 512, modulus)

    def as_stored(rows: list[oracle.Row]) -> list[oracle.Row]:
        padded = rows + [{}] * (16 - len(rows))
        return [{wire: value * r_squared % modulus for wire, value in row.items()} for row in padded]

    binding: list[oracle.Row] = [{wire: 1} for wire in range(4)]
    assert rows_of(matrices.a) == as_stored(rows_of(r1cs.a) + binding)
    assert rows_of(matrices.b) == as_stored(rows_of(r1cs.b))
    header = read_header(path)
    arrays = [x for m in (matrices.a, matrices.b) for x in (m.row_starts, m.columns, m.coefficients)]
    assert sizes.matrices_bytes(header) == sum(array.nbytes for array in arrays)
    assert matrices.n_rows == header.domain_size


@given(
    st.lists(
        st.tuples(st.integers(0, 1), st.integers(0, 15), st.integers(0, 13), st.integers(0, 2**250)),
        max_size=60,
    ),
    st.booleans(),
    st.integers(1, 10),
)
def test_terms_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, terms: list[Term], in_order: bool, block: int
) -> None:
    if in_order:
        terms.sort(key=lambda term: term[1])
    path = with_terms(terms, tmp_path_factory.mktemp("terms"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_TERMS_AT_ONCE", block)
        found = terms_of(read_matrices(path))
    assert found == sorted(terms, key=lambda term: term[:2])


def test_many_terms_keep_their_order_within_a_row(tmp_path: Path) -> None:
    draw = random.Random(1)
    terms = [(draw.randrange(2), draw.randrange(16), draw.randrange(14), index) for index in range(20_000)]
    assert terms_of(read_matrices(with_terms(terms, tmp_path))) == sorted(terms, key=lambda term: term[:2])


@pytest.mark.parametrize(
    ("term", "words"),
    [
        ((2, 0, 0, 1), "names matrix 2, expected less than 2"),
        ((0, 16, 0, 1), "names row 16, expected less than 16"),
        ((1, 0, 14, 1), "names wire 14, expected less than 14"),
        ((1, 0, 2**32 - 1, 1), "names wire 4294967295"),
        ((0, 0, 0, oracle.MODULI["bn254"]), "coefficient not below the modulus"),
    ],
)
def test_terms_outside_the_circuit_are_refused(tmp_path: Path, term: Term, words: str) -> None:
    refuses(read_matrices, with_terms([(0, 1, 1, 1), term], tmp_path), words)


def test_a_key_that_shrinks_between_head_and_matrices_is_refused(tmp_path: Path) -> None:
    path = rebuilt(BN254, tmp_path / "shrinking.zkey", {})
    header = read_header(path)
    path.write_bytes(path.read_bytes()[: header.container.sections[4].offset_bytes + 50])
    refuses(lambda _: read_matrices(header), path, "became shorter")
    assert sections_of(BN254)[4] == section(terms_of_snarkjs())


def terms_of_snarkjs() -> list[Term]:
    """snarkjs's order: by row, A's terms before B's."""
    return sorted(terms_of(read_matrices(BN254)), key=lambda term: (term[1], term[0]))
