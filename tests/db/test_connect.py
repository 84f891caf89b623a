"""Addresses: what is understood, what is refused, and that no password is shown."""

import logging
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from db import HistoryError
from db.connect import connect, impatient, parse_address, remedy, shown, write_transaction


def test_a_path_is_an_sqlite_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for address in ("h.db", Path("h.db"), tmp_path / "h.db", "sqlite:///h.db", f"sqlite:///{tmp_path}/h.db"):
        assert shown(parse_address(address)) == str(tmp_path / "h.db")


def test_odd_characters_of_a_path_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "50% of: a?b#c é.db"
    assert parse_address(path).database == str(path)


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg", "postgresql+asyncpg"])
def test_postgresql_is_shown_without_driver_and_password(scheme: str) -> None:
    url = parse_address(f"{scheme}://me:hunter2@db.example:5433/cuzk?sslmode=require")
    assert url.drivername == "postgresql+psycopg"
    assert shown(url) == "postgresql://me:***@db.example:5433/cuzk?sslmode=require"


@pytest.mark.parametrize(
    "address",
    [
        "mysql://me:hunter2@db/cuzk",
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite:///h.db?mode=ro",
        "://hunter2",
        "postgresql:/me:hunter2@db/cuzk",
        "sqlite:h.db",
    ],
)
def test_other_addresses_are_refused_in_one_line(address: str) -> None:
    with pytest.raises(HistoryError, match="expected the path of an SQLite file or postgresql://") as caught:
        parse_address(address)
    assert "hunter2" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        (
            "PRAGMA max_page_count = 1; CREATE TABLE a (x); CREATE TABLE b (x)",
            "free space on its disk, or choose",
        ),
        ("PRAGMA query_only = ON; CREATE TABLE a (x)", "make it readable and writable, or choose"),
    ],
)
def test_each_failure_of_sqlite_has_its_remedy(statements: str, expected: str) -> None:
    with closing(sqlite3.connect(":memory:")) as connection, pytest.raises(sqlite3.Error) as caught:
        connection.executescript(statements)
    assert remedy(caught.value).startswith(expected)


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(
        HistoryError,
        match=r"^postgresql://db/cuzk: PostgreSQL needs psycopg.*pip install 'cuzk\[postgresql\]'$",
    ):
        connect(parse_address("postgresql://db/cuzk"))


def test_a_long_wait_for_a_lock_is_told_of_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("db.connect._LOOK_S", 0.01)
    monkeypatch.setattr("db.connect._SAY_AFTER_S", 0.1)
    engine = impatient(connect(parse_address(tmp_path / "h.db")), 0.5)
    with closing(sqlite3.connect(tmp_path / "h.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(OperationalError, match="locked"), write_transaction(engine):
            pass
        other.execute("ROLLBACK")
    with caplog.at_level(logging.WARNING), write_transaction(engine) as connection:
        connection.exec_driver_sql("CREATE TABLE a (x)")
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 30_000
    (said,) = [record.getMessage() for record in caplog.records]
    assert said.startswith(f"waiting for another process that holds {tmp_path / 'h.db'} locked, 0 s so far")
    engine.dispose()
