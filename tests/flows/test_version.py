"""The version in a run's record."""

from importlib.metadata import PackageNotFoundError

import pytest

from flows import version as module
from flows.version import code_version


def test_it_is_that_of_the_package_or_said_to_be_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "version", lambda name: f"{name} 7")
    assert code_version() == "cuzk 7"

    def not_installed(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(module, "version", not_installed)
    assert code_version() == "unknown"
