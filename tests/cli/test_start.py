"""What commands load before they begin: half of their time, and no more than they need."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from db import Partition, Proof, Run, open_history
from groth16.inputs import read_inputs
from groth16.witness import write_witness
from groth16.witness_calculator import WitnessCalculator
from tests.cli.conftest import Files

ROOT = Path(__file__).parents[2]
# The command leaves by os._exit, so that nothing is called at exit.
LOADED = """
import gc, json, os, sys
from cli.main import main

def tell(status):
    from numba.core.registry import CPUDispatcher
    kernels = [each for each in gc.get_objects() if isinstance(each, CPUDispatcher)]
    print(json.dumps([sorted(sys.modules), sum(len(each.overloads) for each in kernels)]), flush=True)
    leave(status)

leave, os._exit = os._exit, tell
main()
"""
NEEDED_BY_OTHERS = {
    "alembic",
    "cffi",  # numba's, like those below: what it needs only to compile
    "numba.core.typing.mathdecl",
    "numba.np.arraymath",
    "numba.np.linalg",
    "numba.np.npyimpl",
    "policy.budget_policy",
    "policy.decisions",
    "policy.events",
    "prefect",
    "pydantic",
    "rich",
    "simpy",
    "sqlalchemy",
    "wasmtime",
}
MOST_KERNELS = 40
NEEDED_BY_OTHER_QUESTIONS = {
    "alembic",
    "asyncpg",
    "numpy",
    "prefect",
    "psycopg",
    "pydantic",
    "sqlalchemy.dialects.postgresql",
}


def test_a_proof_loads_a_few_kernels_and_nothing_that_it_does_not_need(files: Files, tmp_path: Path) -> None:
    witness = tmp_path / "witness.wtns"
    write_witness(witness, WitnessCalculator(files.wasm).calculate(read_inputs(files.inputs)))
    done = subprocess.run(  # with kernels that were compiled for the proof in `files`
        [sys.executable, "-c", LOADED, "prove", str(files.zkey), str(witness), "proof.json", "public.json"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    modules, kernels = json.loads(done.stdout.splitlines()[-1])
    assert "engine.one_proof" in modules
    assert not NEEDED_BY_OTHERS & set(modules)
    assert 0 < kernels <= MOST_KERNELS


@pytest.mark.parametrize("question", ["list", "waits", "failures"])
def test_a_question_to_the_history_loads_nothing_that_it_does_not_need(tmp_path: Path, question: str) -> None:
    with open_history(tmp_path / "history.db") as history, history.writer() as writer:
        run = Run(source="real", name="batch", code_version="1", state="succeeded")
        proof = Proof(run_id=run.id, name="one", circuit="c", submitted_s=0.0)
        writer.insert(run, proof, Partition(proof_id=proof.id, index=0, state="succeeded"))
    ask = (
        "import os, sys; leave, os._exit = os._exit, lambda _: (print(*sys.modules, flush=True), leave(0))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", ask + "from cli.main import main; main()", "history", question],
        cwd=tmp_path,
        env={"PATH": os.defpath, "PYTHONPATH": str(ROOT), "CUZK_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    modules = set(done.stdout.splitlines()[-1].split())
    assert "sqlalchemy" in modules
    assert not NEEDED_BY_OTHER_QUESTIONS & modules


def test_an_installation_that_is_not_whole_is_said_in_one_line() -> None:
    code = "import sys; sys.modules['engine.doctor'] = None; from cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "doctor"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("cuzk: its installation is not whole (import of engine.doctor halted")
    assert len(done.stderr.splitlines()) == 1
