from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groth16 import matrices as module
from groth16 import sizes
from groth16.matrices import Matrices, Matrix, read_matrices
from groth16.r1cs import read_r1cs
from groth16.zkey import read_header
from kernels.encoding import limbs_to_ints
from kernels.parallel import PoolRunner, Stopped
from tests.groth16 import oracle
from tests.groth16.samples import CURVES, rebuilt, refuses, sample
from tests.groth16.test_r1cs import rows_of

Term = tuple[int, int, int, int]  # matrix, row, wire, coefficient as stored
R2 = 2**512 % oracle.MODULI["bn254"]
UNITS = [R2, oracle.MODULI["bn254"] - R2]  # 1 and −1
COEFFICIENTS = st.sampled_from([*UNITS, 0, R2 + 1, R2 ^ 1 << 200]) | st.integers(0, 2**250)
TERMS = st.tuples(st.integers(0, 1), st.integers(0, 15), st.integers(0, 13), COEFFICIENTS)
BN254 = sample("bn254", "sample.zkey")


def section(terms: list[Term]) -> bytes:
    packed = [struct.pack("<III", *where) + value.to_bytes(32, "little") for *where, value in terms]
    return struct.pack("<I", len(terms)) + b"".join(packed)


def with_terms(terms: list[Term], folder: Path) -> Path:
    return rebuilt(BN254, folder / "terms.zkey", {4: section(terms)})


def terms_of(matrices: Matrices, curve: str = "bn254") -> list[Term]:
    """All terms with their coefficients as stored, sorted."""
    modulus = oracle.MODULI[curve]

    def of(index: int, matrix: Matrix) -> Iterator[Term]:
        units, others = matrix.unit_columns.tolist(), limbs_to_ints(matrix.others.coefficients)
        for row in range(matrices.n_rows):
            for column in units[matrix.unit_starts[row] : matrix.unit_starts[row + 1]]:
                yield index, row, max(column, ~column), (1 if column >= 0 else -1) * 2**512 % modulus
            starts = matrix.others.row_starts
            for term in range(starts[row], starts[row + 1]):
                yield index, row, int(matrix.others.columns[term]), others[term] * 2**256 % modulus

    return sorted([*of(0, matrices.a), *of(1, matrices.b)])


@pytest.mark.parametrize("curve", CURVES)
def test_snarkjss_matrices_are_the_circuits_with_rows_that_bind_public_signals(curve: str) -> None:
    path, r1cs = sample(curve, "sample.zkey"), read_r1cs(sample(curve, "sample.r1cs"))
    matrices, modulus = read_matrices(path), oracle.MODULI[curve]
    r_squared = pow(2, 512, modulus)

    def as_stored(index: int, rows: list[oracle.Row]) -> list[Term]:
        return [
            (index, row, wire, value * r_squared % modulus)
            for row, terms in enumerate(rows)
            for wire, value in terms.items()
        ]

    binding: list[oracle.Row] = [{wire: 1} for wire in range(4)]
    assert terms_of(matrices, curve) == sorted(
        as_stored(0, rows_of(r1cs.a) + binding) + as_stored(1, rows_of(r1cs.b))
    )
    header = read_header(path)
    assert (matrices.n_rows, matrices.n_wires) == (header.domain_size, header.n_variables)
    arrays = matrices.a.arrays + matrices.b.arrays
    n_units = sum(len(m.unit_columns) for m in (matrices.a, matrices.b))
    assert n_units > 0
    assert sizes.matrices_bytes(header) - 32 * n_units == sum(array.nbytes for array in arrays)


@given(
    st.lists(TERMS, max_size=60),
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
    assert found == sorted(terms)


def test_wires_too_large_for_a_sign_are_kept_with_the_other_terms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terms = [(0, 2, wire, unit) for wire in (0, 6, 7, 13) for unit in UNITS]
    monkeypatch.setattr(module, "_SIGNED_WIRES", 7)
    matrices = read_matrices(with_terms(terms, tmp_path))
    assert matrices.a.unit_columns.tolist() == [0, ~0, 6, ~6]
    assert matrices.a.others.columns.tolist() == [7, 7, 13, 13]
    assert terms_of(matrices) == sorted(terms)


def test_rows_cost_what_their_terms_do(tmp_path: Path) -> None:
    matrix = read_matrices(with_terms([(0, 1, 1, R2), (0, 1, 2, 5), (0, 3, 3, UNITS[1])], tmp_path)).a
    assert [matrix.cost_before(row) for row in range(6)] == [0, 1, 8, 9, 11, 12]


def test_many_terms_in_any_order(tmp_path: Path) -> None:
    draw = random.Random(1)
    terms = [(draw.randrange(2), draw.randrange(16), draw.randrange(14), index) for index in range(20_000)]
    assert terms_of(read_matrices(with_terms(terms, tmp_path))) == sorted(terms)


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


def test_reading_stops_between_two_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = iter([False, False, True])
    monkeypatch.setattr("groth16.matrices._TERMS_AT_ONCE", 1)
    with ThreadPoolExecutor(1) as pool, pytest.raises(Stopped):
        read_matrices(sample("bn254", "sample.zkey"), PoolRunner(pool, 1, lambda: next(asked)))
    assert list(asked) == []
