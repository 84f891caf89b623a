from pathlib import Path
from random import Random

import pytest

from groth16.errors import InputError
from groth16.key_scalars import Toxic
from groth16.r1cs import read_r1cs
from groth16.setup import circuit_hash, setup
from groth16.zkey import ProvingKey, read_proving_key
from kernels.encoding import decode_points
from kernels.fields import CURVES, Group
from kernels.parallel import serial
from tests.groth16 import oracle, proving

NAMES = ("tau", "alpha", "beta", "delta")


def known_key(
    curve: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[oracle.Circuit, oracle.Toxic, ProvingKey]:
    circuit = oracle.random_circuit(curve, seed=5, n_constraints=4, n_public=2, n_private=3)
    circuit.witness.append(7)  # a wire that no constraint uses
    values = [Random(5).randrange(1, circuit.modulus) for _ in NAMES]
    monkeypatch.setattr("groth16.setup.draw_toxic", lambda *_: Toxic(*values))
    files = proving.set_up(circuit, folder)
    return circuit, oracle.Toxic(*values), read_proving_key(files.zkey)


@pytest.mark.parametrize("curve", sorted(CURVES))
def test_points_are_the_generators_times_the_papers_exponents(
    curve: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    circuit, toxic, key = known_key(curve, tmp_path, monkeypatch)
    exponents = oracle.key_exponents(circuit, toxic)
    g1, g2 = CURVES[curve].g1, CURVES[curve].g2
    expected: dict[str, tuple[Group, list[int]]] = {
        "alpha_g1": (g1, [toxic.alpha]),
        "beta_g1": (g1, [toxic.beta]),
        "beta_g2": (g2, [toxic.beta]),
        "gamma_g2": (g2, [1]),
        "delta_g1": (g1, [toxic.delta]),
        "delta_g2": (g2, [toxic.delta]),
        "ic": (g1, exponents.ic),
        "a": (g1, exponents.a),
        "b_g1": (g1, exponents.b),
        "b_g2": (g2, exponents.b),
        "c": (g1, exponents.c),
        "h": (g1, exponents.h),
    }
    for name, (group, scalars) in expected.items():
        multiple = oracle.g1_point if group is g1 else oracle.g2_point
        points = decode_points(group, getattr(key, name).reshape(-1, *group.point_shape))
        assert points == [multiple(curve, scalar) for scalar in scalars], name
    assert not key.a[-1].any(), "an unused wire's point is the identity"


@pytest.mark.parametrize("curve", sorted(CURVES))
def test_the_secrets_are_not_in_the_file(curve: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    circuit, toxic, key = known_key(curve, tmp_path, monkeypatch)
    data, modulus = key.header.path.read_bytes(), circuit.modulus
    assert modulus.to_bytes(32, "little") in data
    for name in NAMES:
        value = getattr(toxic, name)
        forms = (value, pow(value, -1, modulus), value * 2**256 % modulus, value * 2**512 % modulus)
        assert not any(form.to_bytes(32, "little") in data for form in forms), name


def test_every_setup_draws_its_own_secrets(tmp_path: Path) -> None:
    files = proving.write_circuit(oracle.random_circuit("bn254", seed=5), tmp_path)
    keys = []
    for name in ("first.zkey", "second.zkey"):
        setup(read_r1cs(files.r1cs), tmp_path / name, serial)
        keys.append(read_proving_key(tmp_path / name))
    for name in ("alpha_g1", "beta_g2", "delta_g1", "h"):
        assert (getattr(keys[0], name) != getattr(keys[1], name)).any(), name


def test_the_circuits_hash_is_of_its_constraints(tmp_path: Path) -> None:
    circuit = oracle.random_circuit("bn254", seed=5)
    r1cs = read_r1cs(proving.write_circuit(circuit, tmp_path).r1cs)
    again = read_r1cs(proving.write_circuit(circuit, tmp_path).r1cs)
    circuit.c[0][0] = circuit.c[0].get(0, 0) ^ 1
    other = read_r1cs(proving.write_circuit(circuit, tmp_path).r1cs)
    assert circuit_hash(r1cs) == circuit_hash(again) != circuit_hash(other)
    assert len(circuit_hash(r1cs)) == 64


def test_a_setup_that_fails_leaves_the_old_key_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = proving.write_circuit(oracle.random_circuit("bn254", seed=5), tmp_path)
    files.zkey.write_bytes(b"the old key")
    with pytest.raises(InputError, match=r"missing/key\.zkey"):
        setup(read_r1cs(files.r1cs), tmp_path / "missing" / "key.zkey", serial)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(InputError, match="No space left"):
        setup(read_r1cs(files.r1cs), files.zkey, serial)
    assert files.zkey.read_bytes() == b"the old key"
    assert sorted(tmp_path.iterdir()) == sorted([files.r1cs, files.wtns, files.zkey])
