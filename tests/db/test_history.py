"""Opening: quick when there is nothing to do, and one clear line when it cannot be done."""

import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import make_url

import db.history
from db import HistoryError, NoHistory, Run, list_runs, open_history

NOBODY = 65534


@contextmanager
def as_nobody() -> Iterator[None]:
    """Without root's right to write everywhere."""
    if os.getuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that nobody can enter and list; pytest's own are closed to others."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def assert_refused(path: Path, expected: str) -> None:
    with pytest.raises(HistoryError, match=expected) as caught:
        open_history(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_folders_are_made(tmp_path: Path) -> None:
    with open_history(tmp_path / "a/b/history.db") as history:
        assert list_runs(history) == []
        assert history.address == str(tmp_path / "a/b/history.db")


def test_the_second_opening_does_not_load_the_migrations(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    open_history(path).close()
    code = f"import sys, db; db.open_history({str(path)!r}).close(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "db.history" in loaded.stdout.split()
    assert not {"alembic", "db.migrate", "psycopg"} & set(loaded.stdout.split())


def test_sqlite_lets_others_read_while_one_writes(tmp_path: Path) -> None:
    with open_history(tmp_path / "h.db") as history, history.engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1


def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Dear diary, " * 1000)
    assert_refused(
        tmp_path / "notes.txt", "cannot be used as the history: file is not a database; choose another"
    )
    assert (tmp_path / "notes.txt").read_text() == "Dear diary, " * 1000


def test_a_truncated_history_is_refused(tmp_path: Path) -> None:
    open_history(tmp_path / "h.db").close()
    content = (tmp_path / "h.db").read_bytes()
    (tmp_path / "h.db").write_bytes(content[: len(content) // 2])
    assert_refused(
        tmp_path / "h.db", "cannot be used as the history: database disk image is malformed; restore it"
    )


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert_refused(tmp_path, "is a folder, expected the path of a file")


def test_another_program_s_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "other.db")
    connection.execute("CREATE TABLE bookmark (url TEXT)")
    connection.close()
    before = (tmp_path / "other.db").read_bytes()
    assert_refused(
        tmp_path / "other.db", r"another program \(bookmark\); choose another path with \[history\]"
    )
    assert (tmp_path / "other.db").read_bytes() == before


def test_a_full_disk_is_refused_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(sqlite3.connect(tmp_path / "h.db")) as connection:
        connection.execute("PRAGMA max_page_count = 1")
        with pytest.raises(sqlite3.OperationalError) as full:
            connection.executescript("CREATE TABLE a (x); CREATE TABLE b (x);")

    def fail(*_: object) -> None:
        raise full.value

    monkeypatch.setattr(db.history, "bring_to_head", fail)
    assert_refused(tmp_path / "h2.db", "database or disk is full; free space on its disk, or choose another")


@pytest.mark.parametrize("empty_file", [False, True])
def test_where_nothing_is_to_be_made_nothing_is_made(tmp_path: Path, empty_file: bool) -> None:
    path = tmp_path / "empty.db" if empty_file else tmp_path / "a/history.db"
    if empty_file:
        path.touch()
    with pytest.raises(NoHistory, match=f"^no runs yet in {path}$"):
        open_history(path, create=False)
    assert [(each.name, each.stat().st_size) for each in tmp_path.iterdir()] == [("empty.db", 0)] * empty_file


def test_an_empty_schema_is_left_empty(postgresql: str) -> None:
    for _ in range(2):
        with pytest.raises(NoHistory, match=r"^no runs yet in postgresql://"):
            open_history(postgresql, create=False)


def test_a_history_that_is_there_opens_without_making_one(address: str) -> None:
    open_history(address).close()
    with open_history(address, create=False) as history:
        assert list_runs(history) == []


def test_a_folder_that_cannot_be_made_is_refused() -> None:
    assert_refused(Path("/dev/null/history.db"), "its folder cannot be made: ")


@pytest.mark.parametrize("new", [False, True])
def test_a_file_that_cannot_be_written_is_refused(public: Path, new: bool) -> None:
    path = public / "h.db"
    path.touch() if new else open_history(path).close()
    path.chmod(0o444)
    with as_nobody():
        assert_refused(
            path, "cannot be used as the history: (attempt to write a readonly|unable to open) database"
        )


def test_a_file_that_cannot_be_read_is_refused(public: Path) -> None:
    path = public / "h.db"
    open_history(path).close()
    path.chmod(0)
    with as_nobody():
        assert_refused(path, "cannot be used as the history: unable to open database file")


def test_a_server_that_is_away_is_refused() -> None:
    with pytest.raises(
        HistoryError, match=r"^postgresql://me:\*\*\*@127.0.0.1:1/cuzk: cannot be used"
    ) as caught:
        open_history("postgresql://me:hunter2@127.0.0.1:1/cuzk")
    assert "hunter2" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_database_that_does_not_exist_is_refused(postgresql: str) -> None:
    with pytest.raises(HistoryError, match='database "cuzk_test_nowhere" does not exist'):
        open_history(make_url(postgresql).set(database="cuzk_test_nowhere").render_as_string(False))


def test_a_failing_question_gives_one_line(tmp_path: Path) -> None:
    with open_history(tmp_path / "h.db") as history:
        with history.engine.begin() as connection:
            connection.exec_driver_sql("DROP TABLE run")
        with pytest.raises(HistoryError, match=r"h.db: no such table: run$"):
            list_runs(history)


def test_what_is_written_is_there_when_opened_again(address: str) -> None:
    with open_history(address) as history, history.writer() as writer:
        writer.insert(run := Run(source="sim", name="x", code_version="1", state="succeeded"))
    run.packed = True
    with open_history(address) as history:
        assert [summary.run for summary in list_runs(history)] == [run]
