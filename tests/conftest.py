"""What all tests share: a home of their own, and kernels that are compiled once for the whole run."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

import kernels  # noqa: F401 chooses the folder of compiled kernels, before the tests choose another home

# A busy machine, or a kernel that is compiled at its first example, is no failure.
settings.register_profile("cuzk", deadline=None)
settings.load_profile("cuzk")

# A shell's background job ignores interrupts, and so would every command that its tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)


SLOWEST = ("flows/deployments/", "kernels/test_simulated_gpu", "flows/spread/", "flows/", "daemon/", "bench/")
"""Begun first, or all would wait for one of them at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def place(item: pytest.Item) -> int:
        name = item.nodeid.removeprefix("tests/")
        return next((place for place, begin in enumerate(SLOWEST) if name.startswith(begin)), len(SLOWEST))

    items.sort(key=place)


@pytest.fixture(autouse=True)
def nobody_watches_signals() -> Iterator[None]:
    """After a test, or a signal of a later one would end the whole run."""
    yield
    assert signal.set_wakeup_fd(-1) == -1, "a thread still watches signals, to end the process"


@pytest.fixture(autouse=True, scope="session")
def own_home(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep the user's settings, history and keys out of the tests, and the tests out of them."""
    for name in ("CUZK_CONFIG", "CUZK_HISTORY_URL", "PREFECT_API_URL"):
        os.environ.pop(name, None)
    os.environ["CUZK_HOME"] = str(tmp_path_factory.mktemp("home"))
