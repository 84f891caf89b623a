"""One proof in this process: its files verify, and what cannot be proved is refused in one line."""

import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from engine import CircuitSpec, EngineError, single
from engine.limits import Memory
from engine.single import Outcome, prove_files, setup_file
from groth16.errors import InputError
from groth16.proof import read_proof, read_public
from groth16.verification_key import read_verification_key_of
from groth16.verifier import verify
from tests.engine.support import ROOT


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
    stages = ["witness", "load", "synthesize", "quotient", "prove", "verify", "total"]
    assert list(outcome.as_dict()["seconds"]) == stages
    assert outcome.seconds["total"] >= sum(outcome.seconds[stage] for stage in stages[:-1])
    assert set(threading.enumerate()) <= threads_before


@pytest.mark.parametrize(
    ("with_r1cs", "why"), [(True, r"constraint 0 \(from 0\) of"), (False, "does not verify")]
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
    told: list[str] = []
    for _ in range(2):
        setup_file(multiplier.r1cs, tmp_path / "key.zkey", threads=1, report=told.append)
        prove(multiplier, tmp_path, report=told.append)
    assert ["compiling" in line for line in told] == [True, True]  # the first setup and the first proof


def test_a_single_proof_pays_for_no_database() -> None:
    code = "import sys, engine.single; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert not {"sqlalchemy", "alembic", "prefect"} & set(loaded.stdout.split())
