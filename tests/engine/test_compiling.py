"""Kernels compiled ahead are those that proofs, checks and setups use; nothing of it stays running."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from engine import EngineError, compiling
from engine.alone import alone
from engine.compiling import compile_ahead, compile_all, compile_once
from kernels.cache import note_of
from tests.engine.support import COMPILES_NOTHING, CONFIG, ROOT

SAVING = """
from kernels.cpu import warmup
from numba.core.caching import IndexDataCacheFile
warmup.STEPS["prove"]["save"] = lambda _: IndexDataCacheFile("nowhere", "kernel", "stamp").save("a", "a")
warmup.work()
"""
UNKEPT = """
import sys
for line in sys.stdin:
    print(line.strip(), "unkept: /there: compiled kernels cannot be kept (No space left)", flush=True)
"""
FAILING = "import sys\nsys.stdin.readline(); sys.exit(3)"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of kernels, and workers that compile nothing."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiling, "WORKER", COMPILES_NOTHING)
    return tmp_path


def test_only_the_first_time_is_told(folder: Path) -> None:
    told: list[str] = []
    for _ in range(2):
        compile_once("prove", "bn254", told.append)
    compile_once("verify", "bn254", told.append)  # proofs are verified as well
    assert told == ["compiling kernels for bn254, once for this machine and version"]
    assert note_of("prove bn254").parent == folder
    compile_once("setup", "bn254", told.append)
    assert len(told) == 2


def test_a_failing_compiler_is_told_and_ends_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "WORKER", FAILING)
    told: list[str] = []
    before = psutil.Process().children()
    compile_once("prove", "bn254", told.append)
    assert "compiling as the work goes on: compiling sums in G2 for bn254 failed" in told[-1]
    assert not note_of("prove bn254").exists()
    with pytest.raises(EngineError, match="its process ended with 3"):
        compile_all([("setup", "bls12381")], told.append)
    assert psutil.Process().children() == before
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("compiling")]


def test_who_comes_second_waits_and_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    entered, go_on, calls = threading.Event(), threading.Event(), list[object]()

    def slow(wanted: list[tuple[str, str]], _report: object) -> None:
        calls.append(wanted)
        entered.set()
        assert go_on.wait(30)
        note_of("prove bn254").touch()

    monkeypatch.setattr(compiling, "compile_all", slow)
    told: list[str] = []

    def report(line: str) -> None:
        told.append(line)
        if "another process" in line:
            go_on.set()

    first = threading.Thread(target=compile_once, args=("prove", "bn254", lambda _: None))
    first.start()
    assert entered.wait(30)
    compile_once("prove", "bn254", report)
    first.join()
    assert "another process is compiling kernels for bn254; waiting for it" in told
    assert calls == [[("prove", "bn254")]]


def test_what_cannot_be_kept_is_told_and_not_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "WORKER", UNKEPT)
    told: list[str] = []
    with pytest.raises(EngineError, match=r"^/there: compiled kernels cannot be kept \(No space left"):
        compile_all([("prove", "bn254")], told.append)
    compile_once("prove", "bn254", told.append)
    assert told[-1].startswith("compiling as the work goes on: /there: compiled kernels cannot be kept")
    assert not note_of("prove bn254").exists()


def test_a_worker_says_what_it_could_not_keep() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SAVING], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as worker:
        assert worker.stdin is not None
        assert worker.stdout is not None
        print("bn254 prove save", file=worker.stdin, flush=True)
        answer = worker.stdout.readline()
        worker.stdin.close()  # it ends with its input, whatever it has said
    assert answer.startswith("bn254 prove save unkept: ")
    assert "compiled kernels cannot be kept (No such file or directory)" in answer


def test_who_compiles_ahead_waits_for_who_does_so(monkeypatch: pytest.MonkeyPatch) -> None:
    held, told = [("verify", "bn254"), ("prove", "bn254")], list[str]()
    monkeypatch.setattr(compiling, "compile_all", lambda *_: done.append(len(told)))
    done: list[int] = []
    with ExitStack() as locks:

        def report(line: str) -> None:
            told.append(line)
            locks.close()

        lock_path = note_of("prove bn254").with_suffix(".lock")
        locks.enter_context(alone(lock_path, "compiling kernels for bn254", report))
        compile_ahead(held, report)
    assert told == ["another process is compiling kernels for bn254; waiting for it"]
    assert done == [1]


INTERRUPTED = """
import os, signal
from engine import compiling, limits

compiling.WORKER = "import sys, time; sys.stdin.readline(); time.sleep(600)"
limits.threads = lambda _: 2
workers, kill, compile_steps = [], compiling._kill, compiling._compile

def kill_and_interrupt(those):
    signal.raise_signal(signal.SIGINT)
    kill(those)
    signal.raise_signal(signal.SIGINT)

def interrupt(worker, *arguments):
    workers.append(worker)
    if len(workers) == 2:
        os.kill(os.getpid(), signal.SIGINT)
    compile_steps(worker, *arguments)

compiling._kill, compiling._compile = kill_and_interrupt, interrupt
before = signal.getsignal(signal.SIGINT)
try:
    compiling.compile_all([("prove", "bn254")], print)
except KeyboardInterrupt:
    print(signal.getsignal(signal.SIGINT) is before, [worker.wait() for worker in workers])
"""


def test_a_second_signal_while_the_first_ends_the_workers_breaks_nothing_off() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == f"True {[-signal.SIGKILL] * 2}"


def test_words_name_what_is_compiled() -> None:
    running = [("bn254", "prove", "transforms"), ("bn254", "prove", "sums in G2")]
    word = compiling._word(running, 3, 9)
    assert word == "compiling transforms for bn254 and sums in G2 for bn254, 3 of 9 done"


SLEEPING = """
import time
from kernels.cpu import warmup
warmup.STEPS["prove"]["sleep"] = lambda _: (print("asleep", flush=True), time.sleep(600))
warmup.work()
"""


def test_a_worker_ends_with_who_asked_also_in_the_middle_of_a_step() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SLEEPING], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as worker:
        assert worker.stdin is not None
        assert worker.stdout is not None
        print("bn254 prove sleep", file=worker.stdin, flush=True)
        assert worker.stdout.readline() == "asleep\n"
        worker.stdin.close()
        assert worker.wait(timeout=60) == 0


COVERED = """
import gc, sys
from pathlib import Path
from numba.core.registry import CPUDispatcher
from engine.single import prove_files, setup_file
from groth16.proof import read_proof, read_public
from groth16.verification_key import read_verification_key, read_verification_key_of
from groth16.verifier import verify
from kernels.cpu.warmup import STEPS
from kernels.fields import CURVES
from tests.groth16 import oracle
from tests.groth16.proving import write_circuit
from tests.groth16.samples import sample

curve, folder = sys.argv[1], Path(sys.argv[2])
sizes = (3, 300)  # of circuits, in constraints

def compiled():
    found = [each for each in gc.get_objects() if isinstance(each, CPUDispatcher)]
    return {(each.py_func.__module__, each.py_func.__qualname__, signature)
            for each in found for signature in each.overloads}

def check():
    read_verification_key_of(sample(curve, "sample.zkey"))
    key = read_verification_key(sample(curve, "verification_key.json"))
    claim = read_public(sample(curve, "public.json"), CURVES[curve]), read_proof(sample(curve, "proof.json"))
    verify(key, *claim)

def set_up():
    for size in sizes:
        circuit = oracle.random_circuit(curve, 1, n_constraints=size, n_private=size)
        (folder / str(size)).mkdir()
        files = write_circuit(circuit, folder / str(size))
        setup_file(files.r1cs, files.zkey, threads=1)

def prove():
    for size in sizes:
        files = [folder / str(size) / name for name in ("circuit.zkey", "circuit.wtns", "proof", "public")]
        prove_files(*files, threads=2)

for purpose, work in (("verify", check), ("setup", set_up), ("prove", prove)):
    for step in STEPS[purpose].values():
        step(CURVES[curve])
    ahead = compiled()
    work()
    for missing in sorted(compiled() - ahead, key=str):
        print(purpose, missing)
"""


@pytest.mark.parametrize("curve", ["bn254", "bls12381"])
def test_nothing_is_left_to_compile_for_proofs_checks_and_setups(
    curve: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # kernels are where the tests keep them
    done = subprocess.run(
        [sys.executable, "-c", COVERED, curve, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.stdout == ""


def test_what_is_compiled_for_proofs_is_known_without_loading_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiling, "note_of", lambda name: tmp_path / name.replace(" ", "-"))
    assert not compiling.compiled_for_proofs(CONFIG, "bn254")
    (tmp_path / "prove-bn254").touch()
    assert compiling.compiled_for_proofs(CONFIG, "bn254")
    assert not compiling.compiled_for_proofs(CONFIG, "bls12381")
