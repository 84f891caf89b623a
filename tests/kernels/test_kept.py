"""Kept kernels are loaded without what numba needs to compile, and still serve callers compiled later."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = """
import numpy as np
from numba import njit

@njit(cache=True)
def inner(values, n):
    if n > len(values):
        raise ValueError("too many")
    doubled = np.empty(n, np.int64)
    for i in range(n):
        doubled[i] = 2 * values[i]
    return doubled.sum()

@njit(cache=True)
def outer(values, n):
    return inner(values, n) + inner(values, n - 1)
"""
CALL = """
import json, sys
import kernels.cpu
import numpy as np, used
values = np.arange(5)
answers = []
for name, n in json.loads(sys.argv[1]):
    try:
        answers.append(int(getattr(used, name)(values, n)))
    except ValueError as error:
        answers.append(str(error))
hits = [sum(each.stats.cache_hits.values()) for each in (used.inner, used.outer)]
print(json.dumps([answers, hits, "numba.core.typing.mathdecl" in sys.modules]))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "used.py").write_text(SOURCE)
    return tmp_path


def call(folder: Path, *calls: tuple[str, int]) -> Any:
    """Results or errors of the calls, what was loaded of both functions, and whether numba was made ready."""
    done = subprocess.run(
        [sys.executable, "-c", CALL, json.dumps(calls)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}"},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_what_is_kept_is_loaded_alone_and_raises_and_allocates_as_before(folder: Path) -> None:
    calls, answers = [("inner", 5), ("inner", 6), ("inner", 0)], [20, "too many", 0]
    assert call(folder, *calls) == [answers, [0, 0], True]
    assert call(folder, *calls) == [answers, [1, 0], False]


@pytest.mark.parametrize("first", [[], [("inner", 3)]])
def test_a_caller_that_is_compiled_later_takes_it_in(folder: Path, first: list[tuple[str, int]]) -> None:
    call(folder, ("inner", 5))
    calls = [*first, ("outer", 5), ("outer", 6)]
    answers = [*[6 for _ in first], 32, "too many"]
    assert call(folder, *calls) == [answers, [1, 0], True]
    assert call(folder, *calls) == [answers, [len(first), 1], False]


INTERRUPTED = """
import json, signal, sys
import kernels.cpu
from kernels.kept import KeptLibrary
from numba.core.registry import cpu_target
import numpy as np, used

def interrupt(*_):
    raise KeyboardInterrupt

signal.signal(signal.SIGTERM, interrupt)
hooks = KeptLibrary._object_compiled_hook, KeptLibrary._object_getbuffer_hook
engine = cpu_target.target_context.codegen()._engine

def interrupted(module, code):
    signal.raise_signal(signal.SIGTERM)  # as one that came while LLVM was at work
    hooks[0](module, code)

engine.set_object_cache(interrupted, hooks[1])
answers = []
for _ in range(2):
    try:
        answers.append(int(used.inner(np.arange(5), 5)))
    except KeyboardInterrupt:
        answers.append("interrupted")
        engine.set_object_cache(*hooks)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
print(json.dumps([answers, signal.getsignal(signal.SIGTERM) == signal.SIG_DFL]))
"""


def test_a_signal_while_machine_code_is_made_is_neither_lost_nor_printed(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}"},
        capture_output=True,
        text=True,
        check=True,
    )
    answers, restored = json.loads(done.stdout)
    assert done.stderr == ""
    assert answers == ["interrupted", 20]
    assert restored
