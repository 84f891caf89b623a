"""Whole proofs as a command, from its start to its end: what a shell script sees."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.alternate import line
from benchmarks.circuits.files import Files
from benchmarks.circuits.prepared import Circuit, prepare
from benchmarks.contestants.process import ROOT, ContestantError, pinned
from benchmarks.contestants.registry import OURS, SNARKJS
from benchmarks.results import Measurement, Runs
from benchmarks.suites.bench import Bench
from benchmarks.suites.keys import with_keys
from engine.catalog import CircuitSpec
from engine.circuit import load_shape

CUZK = (sys.executable, "-c", "from cli.main import main; main()")
THREADS = "benchmarks/contestants/threads.cjs"
SMALL = Circuit("dense", 1000)
AFTER_START = ("synthesize", "quotient", "prove", "verify")


@dataclass(frozen=True)
class Ended:
    """A command that ended well."""

    wall_s: float
    cpu_s: float
    peak_bytes: int
    stdout: str
    stderr: str


def commands(bench: Bench) -> None:
    """Every circuit of the plan on every curve, by `cuzk prove` and `snarkjs groth16 prove` in turn."""
    for circuit, curve in bench.circuits():
        files = with_keys(bench, prepare(circuit, curve, bench.folder, bench.report))
        _command(bench, files, circuit in bench.plan.circuits[: bench.plan.peers_commands])


def _command(bench: Bench, files: Files, with_peers: bool) -> None:
    threads = len(bench.cores)
    measurement = bench.measurement(f"command {files.name}", files.curve, files.constraints, threads)
    outputs = bench.folder / "proof.json", bench.folder / "public.json"
    measurement.details["reserved_bytes"] = reserved_bytes(files)
    who = {OURS: prove_command(files, *outputs, threads)}
    if with_peers and shutil.which("node") and SNARKJS.exists():
        given = (str(each) for each in (SNARKJS, "groth16", "prove", files.zkey, files.wtns, *outputs))
        who["snarkjs"] = "node", "--require", str(ROOT / THREADS), *given
    take_turns(bench, measurement, who, {"CONTESTANT_THREADS": str(threads)})


def take_turns(
    bench: Bench, measurement: Measurement, who: Mapping[str, Sequence[str]], environment: Mapping[str, str]
) -> None:
    """Run each command some times in alternation, after a first run that warms the page cache."""
    effort = bench.plan.effort
    for turn in range(effort.runs + 1):
        for name, command in who.items():
            runs = measurement.runs.get(name, Runs())
            if name in measurement.failed or sum(runs.wall_s) > effort.most_s:
                continue
            try:
                ended = run(command, bench.cores, environment)
            except ContestantError as error:
                measurement.failed[name] = str(error)
                continue
            if turn > 0:
                runs.wall_s.append(ended.wall_s)
                runs.cpu_s.append(ended.cpu_s)
                runs.details["peak_bytes"] = max(ended.peak_bytes, runs.details.get("peak_bytes", 0))
                measurement.runs[name] = runs
    bench.report(line(measurement))


def reserved_bytes(files: Files) -> int:
    """What the engine's budget would hold for this proof: key, matrices and working set."""
    shape = load_shape(CircuitSpec(files.zkey.stem, files.zkey, witness=files.wtns))
    return shape.entries_bytes + shape.working_bytes


def start(bench: Bench) -> None:
    """A first process that has to compile everything, and those after it, on a small circuit."""
    for curve in bench.plan.curves:
        files = with_keys(bench, prepare(SMALL, curve, bench.folder, bench.report))
        command = prove_command(
            files, bench.folder / "proof.json", bench.folder / "public.json", len(bench.cores)
        )
        with tempfile.TemporaryDirectory(prefix="cuzk-kernels-") as kernels:
            first = run(command, bench.cores, {"NUMBA_CACHE_DIR": kernels})
            later = [
                run(command, bench.cores, {"NUMBA_CACHE_DIR": kernels}) for _ in range(bench.plan.effort.runs)
            ]
        compiling = bench.measurement("first command", curve.name, files.constraints, len(bench.cores))
        compiling.runs[OURS] = Runs([first.wall_s], [first.cpu_s], {"words": first.stderr.splitlines()})
        started = bench.measurement("start of a command", curve.name, files.constraints, 1)
        started.runs[OURS] = Runs([_start_s(each) for each in later], [each.cpu_s for each in later])
        bench.report(
            f"{curve.name}: first command {first.wall_s:.1f} s, start of a later one "
            f"{started.runs[OURS].median_s:.2f} s"
        )


def _own_environment() -> dict[str, str]:
    """This process's; but Python keeps bytecode, as it does unless it is told not to."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _start_s(ended: Ended) -> float:
    """From the process's start until it has read its files and begins to prove; the way out counts, too."""
    seconds = json.loads(ended.stdout)["seconds"]
    return ended.wall_s - sum(float(seconds[stage]) for stage in AFTER_START)


def prove_command(files: Files, proof: Path, public: Path, threads: int, *more: str) -> tuple[str, ...]:
    """`cuzk prove` with these files and, at the end, more options."""
    given = (str(each) for each in (files.zkey, files.wtns, proof, public))
    return *CUZK, "prove", *given, "--threads", str(threads), "--json", *more


def run(command: Sequence[str], cores: Sequence[int], environment: Mapping[str, str]) -> Ended:
    """Run a command to its end. Raises ContestantError if it fails."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        started_s = time.perf_counter()
        with pinned(cores):
            process = subprocess.Popen(
                command, cwd=ROOT, env={**_own_environment(), **environment}, stdout=out, stderr=err
            )
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - started_s
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        stdout, stderr = out.read(), err.read()
    if process.returncode:
        raise ContestantError(f"{' '.join(command)} ended with {process.returncode}: {stderr or stdout}")
    cpu_s = usage.ru_utime + usage.ru_stime
    return Ended(wall_s, cpu_s, usage.ru_maxrss * 1024, stdout, stderr)
