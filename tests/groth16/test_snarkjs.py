"""Proofs and keys exchanged with snarkjs, in both directions and on both curves."""

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from groth16.errors import VerificationFailed
from groth16.proof import read_proof, read_public, write_proof, write_public
from groth16.prover import prove
from groth16.verification_key import (
    read_verification_key,
    verification_key_of,
    write_verification_key,
)
from groth16.verifier import verify
from groth16.zkey import read_proving_key
from kernels.cpu.tables import make_table
from kernels.fields import CURVES
from kernels.parallel import serial
from tests.groth16 import oracle, proving
from tests.groth16.test_random_circuits import random_circuit

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "node_modules/.bin/snarkjs"
LIMIT_S = 120

Snarkjs = Callable[..., str]


@pytest.fixture(scope="module")
def snarkjs() -> Snarkjs:
    if not PROGRAM.exists():
        pytest.fail(f"{PROGRAM} is missing: run `npm ci` in {ROOT}", pytrace=False)

    def run(*arguments: str | Path, fails: bool = False) -> str:
        command = ["node", str(PROGRAM), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        assert (done.returncode != 0) == fails, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
        return done.stdout

    return run


class Case(NamedTuple):
    circuit: oracle.Circuit
    folder: Path
    ours: proving.Files
    theirs: proving.Files  # the same circuit and witness, the key by snarkjs


@pytest.fixture(scope="module", params=sorted(CURVES))
def case(request: pytest.FixtureRequest, snarkjs: Snarkjs, tmp_path_factory: pytest.TempPathFactory) -> Case:
    """A multiplier of two numbers, one of them public, with a wire that no constraint uses."""
    folder = tmp_path_factory.mktemp(request.param)
    circuit = oracle.Circuit(request.param, 1, 1, [1, 33, 11, 3, 5])
    circuit.constrain({2: 1}, {3: 1}, {1: 1})
    ours = proving.set_up(circuit, folder)
    theirs = replace(ours, zkey=folder / "snarkjs.zkey")
    make_key(snarkjs, circuit, theirs, folder)
    return Case(circuit, folder, ours, theirs)


def make_key(snarkjs: Snarkjs, circuit: oracle.Circuit, files: proving.Files, folder: Path) -> None:
    """A ceremony of one contribution a phase: without one, snarkjs's tau and delta are 1."""
    power, entropy = circuit.domain_size.bit_length() - 1, "-e=some text"
    steps = [folder / f"{step}.ptau" for step in ("new", "contributed", "prepared")]
    initial = folder / "initial.zkey"
    name = CURVES[circuit.curve].snarkjs_name
    snarkjs("powersoftau", "new", name, str(power), steps[0])
    snarkjs("powersoftau", "contribute", steps[0], steps[1], "--name=one", entropy)
    snarkjs("powersoftau", "prepare", "phase2", steps[1], steps[2])
    snarkjs("groth16", "setup", files.r1cs, steps[2], initial)
    snarkjs("zkey", "contribute", initial, files.zkey, "--name=one", entropy)


@pytest.fixture(params=["our key", "snarkjs's key"])
def files(request: pytest.FixtureRequest, case: Case) -> proving.Files:
    return case.ours if request.param == "our key" else case.theirs


def test_snarkjs_verifies_our_proof_and_refuses_it_for_another_signal(
    case: Case, files: proving.Files, snarkjs: Snarkjs, tmp_path: Path
) -> None:
    key, proof = proving.prove_files(files)
    vk_path, public, proof_path = (tmp_path / name for name in ("vk.json", "public.json", "proof.json"))
    write_verification_key(vk_path, verification_key_of(key))
    write_proof(proof_path, proof)
    write_public(public, case.circuit.public)
    assert "OK!" in snarkjs("groth16", "verify", vk_path, public, proof_path)
    write_public(public, [case.circuit.public[0] + 1, *case.circuit.public[1:]])
    assert "Invalid proof" in snarkjs("groth16", "verify", vk_path, public, proof_path, fails=True)


@pytest.mark.parametrize("seed", [1, 6, 8, 11])
def test_snarkjs_verifies_proofs_of_random_circuits(seed: int, snarkjs: Snarkjs, tmp_path: Path) -> None:
    circuit = random_circuit(seed)
    key, proof = proving.prove_files(proving.set_up(circuit, tmp_path))
    vk_path, public, proof_path = (tmp_path / name for name in ("vk.json", "public.json", "proof.json"))
    write_verification_key(vk_path, verification_key_of(key))
    write_proof(proof_path, proof)
    write_public(public, circuit.public)
    assert "OK!" in snarkjs("groth16", "verify", vk_path, public, proof_path)


@pytest.mark.parametrize("curve", sorted(CURVES))
def test_snarkjs_verifies_a_proof_with_a_table(curve: str, snarkjs: Snarkjs, tmp_path: Path) -> None:
    circuit = oracle.random_circuit(curve, seed=12, n_constraints=40, n_public=2, n_private=30)
    key, witness, scalars = proving.quotient_of(proving.set_up(circuit, tmp_path))
    tabled = replace(key, h_table=make_table(CURVES[curve].g1, key.h, serial))
    vk_path, public, proof_path = (tmp_path / name for name in ("vk.json", "public.json", "proof.json"))
    write_verification_key(vk_path, verification_key_of(key))
    write_proof(proof_path, prove(tabled, witness, scalars, serial))
    write_public(public, circuit.public)
    assert "OK!" in snarkjs("groth16", "verify", vk_path, public, proof_path)


def test_we_verify_snarkjss_proof_and_refuse_it_for_another_signal(
    case: Case, files: proving.Files, snarkjs: Snarkjs, tmp_path: Path
) -> None:
    proof_path, public_path = tmp_path / "proof.json", tmp_path / "public.json"
    snarkjs("groth16", "prove", files.zkey, files.wtns, proof_path, public_path)
    vk = verification_key_of(read_proving_key(files.zkey))
    public, proof = read_public(public_path, vk.curve), read_proof(proof_path)
    assert public == case.circuit.public
    verify(vk, public, proof)
    with pytest.raises(VerificationFailed):
        verify(vk, [public[0] + 1, *public[1:]], proof)


def test_snarkjs_exports_the_verification_key_that_we_do(
    files: proving.Files, snarkjs: Snarkjs, tmp_path: Path
) -> None:
    ours, theirs = tmp_path / "ours.json", tmp_path / "theirs.json"
    snarkjs("zkey", "export", "verificationkey", files.zkey, theirs)
    write_verification_key(ours, verification_key_of(read_proving_key(files.zkey)))
    exported = json.loads(theirs.read_text())
    assert json.loads(ours.read_text()) == exported
    write_verification_key(ours, read_verification_key(theirs))
    assert json.loads(ours.read_text()) == exported
