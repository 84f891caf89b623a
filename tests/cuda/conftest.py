"""Kernels for GPUs, on a device or, with NUMBA_ENABLE_CUDASIM=1, in numba's simulator on tiny sizes."""

from __future__ import annotations

import importlib.util

import pytest
from numba import config, cuda

SIMULATED = bool(config.ENABLE_CUDASIM)
HAS_DEVICE = not SIMULATED and importlib.util.find_spec("numba_cuda") is not None and cuda.is_available()

collect_ignore_glob = [] if SIMULATED or HAS_DEVICE else ["test_*.py"]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("filterwarnings", "ignore:overflow encountered:RuntimeWarning")  # words wrap


def arrays_left() -> int:
    """How many arrays of this process lie in the device's memory."""
    from kernels.cuda.device import Device

    with Device(0).active():
        return len(Device(0).held_bytes())


@pytest.fixture(scope="session")
def many() -> int:
    """Elements for a test that wants many."""
    return 12 if SIMULATED else 3000
