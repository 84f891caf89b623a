"""On what it was measured: processor, its instructions, versions, commit."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil

from benchmarks.contestants.process import ROOT

TOLD_FEATURES = ("adx", "bmi2", "avx2", "avx512f", "avx512ifma")


def machine(cores: Sequence[int]) -> dict[str, Any]:
    """For a result: strings and numbers only."""
    model, features = _processor()
    return {
        "processor": model,
        "features": [name for name in TOLD_FEATURES if name in features],
        "cores_used": len(cores),
        "cores": os.cpu_count() or 1,
        "memory_bytes": psutil.virtual_memory().total,
        "load_before": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "numba": version("numba"),
        "numpy": version("numpy"),
        "commit": _commit(),
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _processor() -> tuple[str, set[str]]:
    """Name and flags as Linux tells them, with family and model: a virtual machine's name says little."""
    said: dict[str, str] = {}
    path = Path("/proc/cpuinfo")
    for line in path.read_text().splitlines() if path.exists() else []:
        key, _, value = line.partition(":")
        said.setdefault(key.strip(), value.strip())
    name = said.get("model name", platform.processor() or platform.machine())
    if "cpu family" in said:
        name += f" (family {said['cpu family']}, model {said.get('model', '?')})"
    return name, set(said.get("flags", "").split())


def _commit() -> str:
    """$CUZK_COMMIT where a copy without its history is measured."""
    if told := os.environ.get("CUZK_COMMIT"):
        return told
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=10"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
