"""A daemon's parts in the test's own process, and a client of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from config import Config, load_config
from daemon.book import Book
from daemon.run import Place, _opened
from db import new_id
from tests.daemon.conftest import SETTINGS


def configured(home: Path, params: Path, monkeypatch: pytest.MonkeyPatch, more: str = "") -> Config:
    """Settings of a daemon whose state folder is `home`."""
    monkeypatch.setenv("CUZK_HOME", str(home))
    path = home / "cuzk.toml"
    path.write_text(SETTINGS.format(params=params, daemon="", more=more))
    return load_config(path)


@asynccontextmanager
async def opened_book(config: Config, home: Path) -> AsyncIterator[Book]:
    """Its jobs, and an engine that proves them."""
    here = Place(new_id(), home / "log", home / "daemon")
    here.folder.mkdir(exist_ok=True)
    async with _opened(config, here) as (_engine, book, _circuits):
        yield book
