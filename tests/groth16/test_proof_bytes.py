"""Compressed proofs, read back by py_ecc; and JSON where there is no such standard."""

import json
from typing import Any

import pytest
from py_ecc import bls12_381 as pairing
from py_ecc.bls.point_compression import decompress_G1, decompress_G2
from py_ecc.optimized_bls12_381 import normalize

from groth16.proof_bytes import proof_bytes
from kernels.fields import BLS12_381


def proof(factor: int, curve: str = BLS12_381.snarkjs_name) -> bytes:
    """Multiples of the generators as snarkjs writes them; 0 is infinity."""
    g1, g2 = pairing.multiply(pairing.G1, factor), pairing.multiply(pairing.G2, factor)
    one: list[Any] = ["0", "1", "0"] if g1 is None else [str(g1[0].n), str(g1[1].n), "1"]
    two: list[Any] = [["0", "0"], ["1", "0"], ["0", "0"]]
    if g2 is not None:
        two = [[str(int(each)) for each in part.coeffs] for part in g2] + [["1", "0"]]
    return json.dumps({"pi_a": one, "pi_b": two, "pi_c": one, "curve": curve, "protocol": "groth16"}).encode()


@pytest.mark.parametrize("factor", [1, 2, 3, 12345, BLS12_381.fr.modulus - 1])
def test_py_ecc_reads_the_points_back(factor: int) -> None:
    found = proof_bytes([proof(factor)])
    assert len(found) == 192
    a, b1, b2 = (int.from_bytes(found[start : start + 48], "big") for start in (0, 48, 96))
    assert normalize(decompress_G1(a)) == _like(pairing.multiply(pairing.G1, factor))
    expected = pairing.multiply(pairing.G2, factor)
    read = normalize(decompress_G2((b1, b2)))
    assert [part.coeffs for part in read] == [tuple(map(int, part.coeffs)) for part in expected]
    assert found[144:] == found[:48]


def _like(point: Any) -> Any:
    from py_ecc.optimized_bls12_381 import FQ

    return tuple(FQ(part.n) for part in point)


def test_infinity_has_its_flag_and_nothing_else() -> None:
    found = proof_bytes([proof(0)])
    assert found == (b"\xc0" + bytes(47)) + (b"\xc0" + bytes(95)) + (b"\xc0" + bytes(47))


def test_partitions_follow_one_another() -> None:
    assert proof_bytes([proof(1), proof(2)]) == proof_bytes([proof(1)]) + proof_bytes([proof(2)])


def test_bn254_is_json_and_a_list_of_several() -> None:
    one = proof(1, "bn128")
    assert proof_bytes([one]) == one
    assert json.loads(proof_bytes([one, one])) == [json.loads(one)] * 2
