"""One proof in this process: its files verify, and what cannot be proved is refused in one line."""

import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

import examples
from engine import CircuitSpec, EngineError, compiling, single
from engine.gpus import GpuInfo, Gpus
from engine.limits import Memory
from engine.single import Outcome, prove_files, setup_file
from groth16.errors import InputError
from groth16.proof import read_proof, read_public
from groth16.verification_key import read_verification_key_of
from groth16.verifier import verify
from tests.engine.support import COMPILES_NOTHING, ROOT


def prove(spec: CircuitSpec, folder: Path, report: single.Report = lambda _: None) -> Outcome:
    witness = spec.witness or spec.inputs
    assert witness is not None
    return prove_files(
        spec.zkey,
        witness,
        folder / "proof.json",
        folder / "public.json",
        wasm=spec.wasm,
        r1cs=spec.r1cs,
        threads=2,
        report=report,
    )


def test_a_key_of_our_setup_gives_a_proof_that_verifies(multiplier: CircuitSpec, tmp_path: Path) -> None:
    assert multiplier.r1cs is not None
    mine = replace(multiplier, zkey=tmp_path / "mine.zkey")
    threads_before = set(threading.enumerate())
    assert setup_file(multiplier.r1cs, mine.zkey, threads=2) > 0
    outcome = prove(mine, tmp_path)
    key = read_verification_key_of(mine.zkey)
    verify(key, read_public(outcome.public, key.curve), read_proof(outcome.proof))
    stages = ["start", "witness", "load", "synthesize", "quotient", "prove", "verify", "total"]
    assert list(outcome.as_dict()["seconds"]) == stages
    assert outcome.seconds["total"] >= sum(outcome.seconds[stage] for stage in stages[:-1])
    assert set(threading.enumerate()) <= threads_before


@pytest.mark.parametrize(
    ("with_r1cs", "why"), [(True, r"constraint 0 \(from 0\) of"), (False, "does not verify.* --r1cs FILE")]
)
def test_a_wrong_witness_writes_no_proof(
    wrong_witness: CircuitSpec, tmp_path: Path, with_r1cs: bool, why: str
) -> None:
    spec = wrong_witness if with_r1cs else replace(wrong_witness, r1cs=None)
    with pytest.raises(EngineError, match=why):
        prove(spec, tmp_path)
    assert not list(tmp_path.glob("*.json"))


def test_a_file_that_cannot_be_written_is_refused_before_any_work(
    multiplier: CircuitSpec, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=r"nowhere/proof\.json: cannot be written"):
        prove(replace(multiplier, zkey=tmp_path / "is never read"), tmp_path / "nowhere")


def test_a_circuit_of_another_key_is_refused_before_the_proof(
    multiplier: CircuitSpec, tmp_path: Path
) -> None:
    other = examples.CIRCUITS["multiplier-bls12381"].r1cs
    with pytest.raises(InputError, match=r"multiplier\.r1cs: is a circuit on bls12381 .*expected bn254"):
        prove(replace(multiplier, r1cs=other), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_gpu_that_is_not_there_is_refused_before_the_work(
    multiplier: CircuitSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert multiplier.r1cs is not None
    only = Gpus((GpuInfo(1, "NVIDIA H200", 1 << 37),))
    for gpus, why in ((only, "those here are 1"), (Gpus((), "no driver"), "no driver")):
        monkeypatch.setattr("engine.gpus.usable_gpus", lambda gpus=gpus: gpus)
        with pytest.raises(EngineError, match=f"--device names GPU 0, but {why}"):
            setup_file(multiplier.r1cs, tmp_path / "key.zkey", threads=1, gpu=0, accepted=pytest.fail)
    assert not list(tmp_path.iterdir())


def test_a_setup_is_accepted_only_if_it_will_be_done(multiplier: CircuitSpec, tmp_path: Path) -> None:
    assert multiplier.r1cs is not None
    accepted: list[bool] = []
    key = tmp_path / "key.zkey"
    for wrong in (multiplier.zkey, tmp_path / "missing", key):
        with pytest.raises(InputError):
            setup_file(wrong, key, threads=1, accepted=lambda: accepted.append(key.exists()))
    assert accepted == []
    setup_file(multiplier.r1cs, key, threads=1, accepted=lambda: accepted.append(key.exists()))
    assert accepted == [False]


def test_memory_that_is_not_there_is_refused_with_the_numbers(
    multiplier: CircuitSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(single, "memory", lambda: Memory(4096, 1024, "the machine"))
    with pytest.raises(EngineError, match=r"a proof takes .*MiB, but 1KiB of the machine's 4KiB is free"):
        prove(multiplier, tmp_path)


def test_the_first_run_says_that_it_compiles(
    multiplier: CircuitSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert multiplier.r1cs is not None
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiling, "WORKER", COMPILES_NOTHING)
    told: list[str] = []
    for _ in range(2):
        setup_file(multiplier.r1cs, tmp_path / "key.zkey", threads=1, report=told.append)
        prove(multiplier, tmp_path, report=told.append)
    assert [line.split(",")[0] for line in told] == ["compiling kernels for bn254"] * 2  # setup and proof


def test_a_single_proof_pays_for_no_database_and_no_settings() -> None:
    code = "import sys, engine.single; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert not {"sqlalchemy", "alembic", "prefect", "pydantic", "numba", "wasmtime"} & set(
        loaded.stdout.split()
    )
