from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groth16.errors import InputError
from groth16.key_scalars import Toxic, domain_size_of, draw_toxic, key_scalars
from groth16.r1cs import R1cs, read_r1cs
from kernels.encoding import limbs_to_ints
from kernels.fields import BN254, CURVES
from kernels.parallel import serial
from tests.groth16 import oracle

CURVE_NAMES = sorted(CURVES)


def read(circuit: oracle.Circuit, folder: Path) -> R1cs:
    path = folder / "circuit.r1cs"
    path.write_bytes(oracle.r1cs_bytes(circuit))
    return read_r1cs(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("key_scalars")


@settings(max_examples=25, deadline=None)
@given(
    curve=st.sampled_from(CURVE_NAMES),
    seed=st.integers(0, 2**32),
    n_constraints=st.integers(0, 9),
    n_public=st.integers(0, 6),
    n_private=st.integers(0, 6),
)
def test_scalars_are_those_of_the_paper(
    folder: Path, curve: str, seed: int, n_constraints: int, n_public: int, n_private: int
) -> None:
    circuit = oracle.random_circuit(curve, seed, n_constraints, n_public, n_private)
    toxic = [Random(seed).randrange(1, circuit.modulus) for _ in range(4)]
    expected = oracle.key_exponents(circuit, oracle.Toxic(*toxic))
    r1cs = read(circuit, folder)
    assert domain_size_of(r1cs) == circuit.domain_size
    scalars = key_scalars(r1cs, circuit.domain_size, Toxic(*toxic), serial)
    for name in ("a", "b", "ic", "c", "h"):
        assert limbs_to_ints(getattr(scalars, name)) == getattr(expected, name), name


@pytest.mark.parametrize(
    ("n_constraints", "n_public", "expected"),
    [
        (0, 0, 2),
        (1, 0, 2),
        (1, 1, 4),
        (3, 0, 4),
        (4, 0, 8),
        (6, 1, 8),
        (7, 1, 16),
        (0, 300, 512),
        (12, 3, 16),
    ],
)
def test_domain_holds_constraints_and_public_signals(
    tmp_path: Path, n_constraints: int, n_public: int, expected: int
) -> None:
    circuit = oracle.random_circuit("bn254", 1, n_constraints, n_public, n_private=2)
    assert domain_size_of(read(circuit, tmp_path)) == expected


def test_a_domain_beyond_the_two_adicity_is_refused(tmp_path: Path) -> None:
    r1cs = read(oracle.random_circuit("bn254", 1), tmp_path)
    object.__setattr__(r1cs, "n_constraints", 2**27 - r1cs.n_public - 1)
    assert domain_size_of(r1cs) == 2**27
    object.__setattr__(r1cs, "n_constraints", 2**27)
    with pytest.raises(InputError, match=r"134217728 constraints.*bn254 allows 2\^27"):
        domain_size_of(r1cs)


def test_toxic_values_are_fresh_and_never_shown() -> None:
    first, second = (draw_toxic(BN254.fr, 4) for _ in range(2))
    values = [getattr(toxic, name) for toxic in (first, second) for name in ("tau", "alpha", "beta", "delta")]
    assert len(set(values)) == 8
    assert all(0 < value < BN254.fr.modulus for value in values)
    assert not any(str(value) in f"{first!r} {second}" for value in values)


def test_tau_on_the_domain_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    on_domain = oracle.primitive_root(8, BN254.fr.modulus)
    draws = iter([on_domain - 1, 5, 1, 2, 3])
    monkeypatch.setattr("secrets.randbelow", lambda _: next(draws))
    assert draw_toxic(BN254.fr, 4) == Toxic(6, 2, 3, 4)
