"""The kernels for GPUs in numba's simulator, which must be chosen before numba is loaded."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_kernels_for_gpus_in_the_simulator() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "tests/cuda"],
        cwd=ROOT,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
