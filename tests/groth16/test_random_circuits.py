"""Whole proofs of many random circuits, by the kernels of either width, checked by the pairing.

A seed decides everything: the curve, a domain filled to the last row, to the one before it or one row beyond,
how many public signals there are, none among them, and whether wires are bits, words or any number. Rows are
sparse and their coefficients often 1 or −1.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from groth16.errors import VerificationFailed
from groth16.verification_key import verification_key_of
from groth16.verifier import verify
from kernels.cpu import ifma
from kernels.fields import CURVES
from tests.groth16 import oracle, proving

LANES = "auto" if ifma.available() else "emulated"


def random_circuit(seed: int) -> oracle.Circuit:
    draw = Random(seed)
    n_public = draw.choice([0, 0, 1, 2, 7])
    rows = (1 << draw.randrange(1, 9)) + draw.choice([-1, 0, 1])  # with those that bind public signals
    return oracle.random_circuit(
        sorted(CURVES)[seed % 2],
        seed,
        n_constraints=max(0, rows - n_public - 1),
        n_public=n_public,
        n_private=draw.choice([1, 2, 30, 300]),
        witness_below=draw.choice([None, 2, 2**64]),
    )


@pytest.mark.parametrize("seed", range(50))
def test_its_proof_verifies_and_no_other_signals(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kernels.cpu.lane_tokens.CHOICE", LANES if seed % 4 < 2 else "off")
    circuit = random_circuit(seed)
    key, proof = proving.prove_files(proving.set_up(circuit, tmp_path))
    vk = verification_key_of(key)
    verify(vk, circuit.public, proof)
    if circuit.public:
        changed = [*circuit.public[:-1], (circuit.public[-1] + 1) % circuit.modulus]
        with pytest.raises(VerificationFailed):
            verify(vk, changed, proof)
