"""Migrations make what the models say, up and down, and touch no database of another program or version."""

import hashlib
import shutil
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, inspect, text

import db
from db import History, HistoryError, Record, Run, open_history
from db.connect import connect, parse_address, write_transaction
from db.migrate import downgrade, known_revisions, upgrade
from db.schema import HEAD, VERSION_TABLE, read_revision


def test_the_newest_migration_is_the_head() -> None:
    assert known_revisions()[0] == HEAD


def test_migrations_make_what_the_models_say(history: History) -> None:
    options = {"version_table": VERSION_TABLE, "compare_type": True, "compare_server_default": True}
    with history.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts=options)
        difference: list[Any] = compare_metadata(context, Record.metadata)
    assert difference == []


def test_all_the_way_down_and_up_again(history: History) -> None:
    with write_transaction(history.engine) as connection:
        downgrade(connection, "base")
    with history.engine.connect() as connection:
        assert inspect(connection).get_table_names() == [VERSION_TABLE]
        assert read_revision(connection) is None
    with write_transaction(history.engine) as connection:
        upgrade(connection)
        assert read_revision(connection) == HEAD
        assert set(inspect(connection).get_table_names()) == {VERSION_TABLE, *Record.metadata.tables}


def test_a_history_at_base_is_brought_to_head(address: str, history: History) -> None:
    with write_transaction(history.engine) as connection:
        downgrade(connection, "base")
    with open_history(address) as again, again.engine.connect() as connection:
        assert read_revision(connection) == HEAD


def test_many_open_a_new_history_at_once(address: str) -> None:
    barrier = threading.Barrier(8)

    def open_and_write(number: int) -> None:
        barrier.wait()
        with open_history(address) as history, history.writer() as writer:
            writer.insert(Run(source="real", name=str(number), code_version="1"))
        assert writer.error is None

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(open_and_write, range(8)))
    with open_history(address) as history:
        assert {summary.run.name for summary in db.list_runs(history)} == set("01234567")


def test_a_newer_history_is_refused(address: str, history: History) -> None:
    with write_transaction(history.engine) as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))
    with pytest.raises(
        HistoryError, match="written by a newer version: its schema is '9999', the newest known"
    ):
        open_history(address)
    with history.engine.connect() as connection:
        assert read_revision(connection) == "9999"


def test_a_file_of_another_program_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "places.sqlite"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE bookmark (url TEXT)")
    other.close()
    before = hashlib.sha256(path.read_bytes()).digest()
    with pytest.raises(HistoryError, match=r"places.sqlite: holds tables of another program \(bookmark\)"):
        open_history(path)
    assert hashlib.sha256(path.read_bytes()).digest() == before


def test_a_postgresql_database_is_shared_unless_names_clash(postgresql: str) -> None:
    engine = connect(parse_address(postgresql))
    with write_transaction(engine) as connection:
        connection.execute(text("CREATE TABLE run (id INT)"))
        connection.execute(text("CREATE TABLE alembic_version (version_num TEXT)"))
    with pytest.raises(HistoryError, match=r"holds tables of another program \(run\)"):
        open_history(postgresql)
    with write_transaction(engine) as connection:
        connection.execute(text("DROP TABLE run"))
    open_history(postgresql).close()
    engine.dispose()


def test_migrations_are_found_in_a_folder_of_any_name(tmp_path: Path) -> None:
    place = tmp_path / "100% new é"
    shutil.copytree(Path(db.__file__).parent, place / "db", ignore=shutil.ignore_patterns("__pycache__"))
    code = "from db import open_history; open_history('h.db').close()"
    subprocess.run([sys.executable, "-c", code], cwd=place, check=True)
    engine = create_engine(f"sqlite:///{place / 'h.db'}")
    assert set(inspect(engine).get_table_names()) == {VERSION_TABLE, *Record.metadata.tables}
    engine.dispose()
