"""Which contestants there are, how each is started, and how to get it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from benchmarks.contestants.process import ROOT, Contestant, ContestantError, Entry

OURS = "cuzk"
OURS_64 = "cuzk, 64-bit"
GPU = "cuzk, GPU"


def _python(module: str) -> tuple[str, ...]:
    return sys.executable, "-m", f"benchmarks.contestants.{module}"


EXTRA = "pip install -e '.[bench]'"
SNARKJS = ROOT / "node_modules/snarkjs/build/cli.cjs"
ENTRIES = (
    Entry(OURS, _python("ours"), compiles=True),
    Entry(OURS_64, _python("ours"), environment={"CUZK_LANES": "off"}, compiles=True),
    Entry(GPU, _python("gpu"), "on a machine with an NVIDIA GPU, pip install -e '.[gpu]'", compiles=True),
    Entry(
        "snarkjs",
        ("node", "benchmarks/contestants/snarkjs.cjs"),
        "install Node.js, then run `npm ci` here",
        needs=SNARKJS,
    ),
    Entry("arkworks", _python("arkworks"), EXTRA, threads=1, curves=("bls12381",)),
    Entry("groth16py", _python("groth16py_"), EXTRA, threads=1, curves=("bn254",)),
)


def start(entry: Entry, cores: Sequence[int]) -> Contestant:
    """Start one on as many of these cores as it can use. Raises ContestantError, with how to get it."""
    if entry.needs is not None and not entry.needs.exists():
        raise ContestantError(f"{entry.needs.relative_to(ROOT)} is missing: {entry.how_to_get}")
    try:
        return Contestant(entry, cores[: entry.threads])
    except ContestantError as error:
        raise ContestantError(f"{error}: {entry.how_to_get}" if entry.how_to_get else str(error)) from error


@contextmanager
def team(names: Sequence[str], cores: Sequence[int], missing: dict[str, str]) -> Iterator[list[Contestant]]:
    """Those that can be started, until the block ends; `missing` learns why the others cannot."""
    with ExitStack() as stack:
        started = []
        for entry in ENTRIES:
            if entry.name in names and entry.name not in missing:
                try:
                    started.append(stack.enter_context(start(entry, cores)))
                except ContestantError as error:
                    missing[entry.name] = str(error)
        yield started
