"""Opening: quick when there is nothing to do, and one clear line when it cannot be done."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import make_url

from db import HistoryError, Run, list_runs, open_history

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
    assert_refused(tmp_path / "notes.txt", "cannot be used as the history: file is not a database; make it")
    assert (tmp_path / "notes.txt").read_text() == "Dear diary, " * 1000


def test_a_truncated_history_is_refused(tmp_path: Path) -> None:
    open_history(tmp_path / "h.db").close()
    content = (tmp_path / "h.db").read_bytes()
    (tmp_path / "h.db").write_bytes(content[: len(content) // 2])
    assert_refused(tmp_path / "h.db", "cannot be used as the history: database disk image is malformed")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert_refused(tmp_path, "cannot be used as the history: unable to open database file")


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
    with open_history(address) as history:
        assert [summary.run for summary in list_runs(history)] == [run]
