import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from groth16 import verifier
from groth16.errors import InputError, VerificationFailed
from groth16.proof import Proof, read_proof, write_proof
from groth16.verification_key import (
    VerificationKey,
    read_verification_key,
    verification_key_of,
    write_verification_key,
)
from groth16.verifier import Claim, find_invalid, verify
from kernels.cpu.curve import add_points, negate_point
from kernels.encoding import encode_points
from kernels.fields import CURVES, Curve, Group
from tests.groth16 import oracle, proving

CURVE_NAMES = sorted(CURVES)


class Proved(NamedTuple):
    curve: Curve
    vk: VerificationKey
    public: list[int]
    proof: Proof


@pytest.fixture(scope="module")
def all_proved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Proved]:
    proved = {}
    for name in CURVE_NAMES:
        circuit = oracle.random_circuit(name, seed=11, n_constraints=6, n_public=3, n_private=4)
        key, proof = proving.prove_files(proving.set_up(circuit, tmp_path_factory.mktemp(name)))
        proved[name] = Proved(CURVES[name], verification_key_of(key), circuit.public, proof)
    return proved


@pytest.fixture(params=CURVE_NAMES)
def proved(request: pytest.FixtureRequest, all_proved: dict[str, Proved]) -> Proved:
    return all_proved[request.param]


def test_py_ecc_agrees(proved: Proved, tmp_path: Path) -> None:
    write_verification_key(tmp_path / "vk.json", proved.vk)
    write_proof(tmp_path / "proof.json", proved.proof)
    vk, proof = (json.loads((tmp_path / name).read_text()) for name in ("vk.json", "proof.json"))
    assert oracle.verifies(proved.curve.name, vk, proved.public, proof)
    assert not oracle.verifies(proved.curve.name, vk, [proved.public[0] ^ 1, *proved.public[1:]], proof)
    verify(read_verification_key(tmp_path / "vk.json"), proved.public, read_proof(tmp_path / "proof.json"))


@pytest.mark.parametrize("index", range(3))
def test_a_changed_public_signal_is_refused(proved: Proved, index: int) -> None:
    changed = list(proved.public)
    changed[index] = (changed[index] + 1) % proved.curve.fr.modulus
    with pytest.raises(VerificationFailed, match="does not verify"):
        verify(proved.vk, changed, proved.proof)


def test_signals_in_another_order_are_refused(proved: Proved) -> None:
    with pytest.raises(VerificationFailed):
        verify(proved.vk, proved.public[::-1], proved.proof)


CHANGES: dict[str, Callable[[Curve, Proof], Proof]] = {
    "a negated": lambda curve, p: replace(p, a=negate_point(curve.g1, p.a)),
    "b negated": lambda curve, p: replace(p, b=negate_point(curve.g2, p.b)),
    "c negated": lambda curve, p: replace(p, c=negate_point(curve.g1, p.c)),
    "a plus the generator": lambda curve, p: replace(p, a=add_points(curve.g1, p.a, generator(curve.g1))),
    "b plus the generator": lambda curve, p: replace(p, b=add_points(curve.g2, p.b, generator(curve.g2))),
    "c plus the generator": lambda curve, p: replace(p, c=add_points(curve.g1, p.c, generator(curve.g1))),
    "a and c exchanged": lambda _, p: replace(p, a=p.c, c=p.a),
    "a at infinity": lambda _, p: replace(p, a=np.zeros_like(p.a)),
    "b at infinity": lambda _, p: replace(p, b=np.zeros_like(p.b)),
    "c at infinity": lambda _, p: replace(p, c=np.zeros_like(p.c)),
    "everything at infinity": lambda curve, p: Proof(curve, *(np.zeros_like(x) for x in (p.a, p.b, p.c))),
}


def generator(group: Group) -> NDArray[np.uint64]:
    point: NDArray[np.uint64] = encode_points(group, [group.generator])[0]
    return point


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_point_is_refused(proved: Proved, change: str) -> None:
    with pytest.raises(VerificationFailed, match="pairing equation does not hold"):
        verify(proved.vk, proved.public, CHANGES[change](proved.curve, proved.proof))


def test_both_a_and_b_negated_still_verifies(proved: Proved) -> None:
    """Groth16 proofs can be re-randomised: a refusal here would mean that signs are lost somewhere."""
    g1, g2 = proved.curve.g1, proved.curve.g2
    a, b = negate_point(g1, proved.proof.a), negate_point(g2, proved.proof.b)
    verify(proved.vk, proved.public, replace(proved.proof, a=a, b=b))


def test_the_key_of_another_setup_is_refused(proved: Proved, tmp_path: Path) -> None:
    circuit = oracle.random_circuit(proved.curve.name, seed=11, n_constraints=6, n_public=3, n_private=4)
    key, _ = proving.prove_files(proving.set_up(circuit, tmp_path))
    assert circuit.public == proved.public
    with pytest.raises(VerificationFailed):
        verify(verification_key_of(key), proved.public, proved.proof)


@pytest.mark.parametrize("excess", [0, 1])
def test_a_signal_not_below_the_modulus_is_refused(proved: Proved, excess: int) -> None:
    """signal + r satisfies the same equation, so that one proof would stand for two statements."""
    modulus = proved.curve.fr.modulus
    doubled = [proved.public[0], proved.public[1] * excess + modulus, proved.public[2]]
    with pytest.raises(InputError, match=rf"public signal 1 is {doubled[1]}, expected .* modulus {modulus}"):
        verify(proved.vk, doubled, proved.proof)


def test_a_negative_signal_is_refused(proved: Proved) -> None:
    negative = [proved.public[0] - proved.curve.fr.modulus, *proved.public[1:]]
    with pytest.raises(InputError, match="public signal 0 is -"):
        verify(proved.vk, negative, proved.proof)


@pytest.mark.parametrize("count", [0, 2, 4])
def test_another_number_of_signals_is_refused(proved: Proved, count: int) -> None:
    with pytest.raises(InputError, match=f"{count} public signals given, the verification key expects 3"):
        verify(proved.vk, [*proved.public, 0][:count], proved.proof)


def test_a_proof_on_the_other_curve_is_refused(all_proved: dict[str, Proved]) -> None:
    bn254, bls12381 = all_proved["bn254"], all_proved["bls12381"]
    with pytest.raises(InputError, match="the proof is on bls12381, the verification key on bn254"):
        verify(bn254.vk, bn254.public, bls12381.proof)


@pytest.fixture(scope="module")
def all_claims(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[VerificationKey, list[Claim]]]:
    """Four proofs of different signals under one key: x·x = y for four x."""
    claims = {}
    for name in CURVE_NAMES:
        folder = tmp_path_factory.mktemp(name)
        circuits = [oracle.Circuit(name, 1, 0, [1, x * x, x]) for x in (0, 1, 5, 2**100)]
        for circuit in circuits:
            circuit.constrain({2: 1}, {2: 1}, {1: 1})
        files = proving.set_up(circuits[0], folder)
        found: list[Claim] = []
        for circuit in circuits:
            files.wtns.write_bytes(oracle.wtns_bytes(circuit))
            key, proof = proving.prove_files(files)
            found.append((circuit.public, proof))
        claims[name] = verification_key_of(key), found
    return claims


@pytest.fixture(params=CURVE_NAMES)
def claims(request: pytest.FixtureRequest, all_claims: Any) -> tuple[VerificationKey, list[Claim]]:
    found: tuple[VerificationKey, list[Claim]] = all_claims[request.param]
    return found


def test_proofs_checked_at_once(claims: tuple[VerificationKey, list[Claim]], monkeypatch: Any) -> None:
    vk, right = claims
    calls = []
    real = verifier.pairing_product_is_one
    monkeypatch.setattr(
        verifier, "pairing_product_is_one", lambda c, p, q: calls.append(len(p)) or real(c, p, q)
    )
    assert find_invalid(vk, []) == []
    assert find_invalid(vk, right) == []
    assert find_invalid(vk, [right[2]] * 2) == []
    assert calls == [4 + 3, 2 + 3]


def test_the_wrong_ones_among_many_are_named(claims: tuple[VerificationKey, list[Claim]]) -> None:
    vk, right = claims
    curve = vk.curve
    exchanged = [(right[1][0], right[2][1]), (right[2][0], right[1][1])]
    assert find_invalid(vk, [right[0], *exchanged, right[3]]) == [1, 2]
    for index, (public, proof) in enumerate(right):
        for change in ("a plus the generator", "b negated", "c at infinity"):
            wrong = [*right[:index], (public, CHANGES[change](curve, proof)), *right[index + 1 :]]
            assert find_invalid(vk, wrong) == [index]


def test_errors_that_cancel_without_weights_are_found(claims: tuple[VerificationKey, list[Claim]]) -> None:
    """C + G in one proof and C − G in another: the plain product of both equations still holds."""
    vk, right = claims
    g1 = vk.curve.g1
    g = generator(g1)
    pair = [
        (public, replace(proof, c=add_points(g1, proof.c, change)))
        for (public, proof), change in zip(right[:2], (g, negate_point(g1, g)), strict=True)
    ]
    assert verifier._hold(vk, pair, [1, 1])
    assert find_invalid(vk, pair) == [0, 1]


def test_bad_signals_among_many_are_refused(claims: tuple[VerificationKey, list[Claim]]) -> None:
    vk, right = claims
    with pytest.raises(InputError, match="0 public signals given"):
        find_invalid(vk, [*right, ([], right[0][1])])
