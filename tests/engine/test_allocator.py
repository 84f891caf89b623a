"""An array's memory is the system's again once it is freed, however often arrays came and went before."""

import subprocess
import sys

import pytest

from engine.allocator import give_back_freed_memory
from tests.engine.support import ROOT

# Blocks below glibc's largest threshold, each freed while a later one keeps the heap's end in use.
CHURN = """
import sys
import numpy as np, psutil
from engine.allocator import give_back_freed_memory

if sys.argv[1] == "fixed":
    assert give_back_freed_memory()
for size in range(1, 9):
    del_me = np.ones(size << 20, np.uint8)
    del del_me
before = psutil.Process().memory_info().rss
arrays, ends = [], []
for _ in range(20):
    arrays.append(np.ones(4 << 20, np.uint8))
    ends.append(np.ones(100 << 10, np.uint8))
arrays.clear()
print(psutil.Process().memory_info().rss - before)
"""


def kept_bytes(how: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", CHURN, how], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return int(done.stdout)


@pytest.mark.skipif(not give_back_freed_memory(), reason="the C library has no such threshold")
def test_freed_arrays_leave_the_process() -> None:
    assert kept_bytes("as it is") > 40 << 20  # why it is needed
    assert kept_bytes("fixed") < 8 << 20
