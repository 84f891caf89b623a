"""The writer never raises into its caller, loses nothing that can be written, and says what it lost."""

import logging
import os
import signal
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import func, select, text

from db import (
    History,
    HistoryWriter,
    MemorySample,
    Partition,
    Proof,
    Run,
    list_runs,
    memory_samples,
    open_history,
    spooled_run,
)
from db.spool import Spool


@pytest.fixture
def run(history: History) -> Run:
    """A run that is already in the history."""
    made = Run(source="real", name="batch", code_version="1", state="succeeded")
    with history.writer() as writer:
        writer.insert(made)
    return made


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[History]:
    """An SQLite history that does not wait long for a lock."""
    monkeypatch.setattr("db.connect.BUSY_TIMEOUT_S", 0.01)
    with open_history(tmp_path / "h.db") as history:
        yield history


@contextmanager
def locked(history: History) -> Iterator[None]:
    """While another holds the write lock."""
    other = sqlite3.connect(history.address, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield
    other.execute("ROLLBACK")
    other.close()


def make_run(name: str = "batch") -> Run:
    return Run(source="real", name=name, code_version="1")


def names(history: History) -> list[str]:
    return sorted(summary.run.name for summary in list_runs(history, limit=10_000))


def test_rows_and_updates_are_written_in_order(history: History) -> None:
    with history.writer() as writer:
        writer.insert(made := make_run())
        for number in range(20):
            proof = Proof(run_id=made.id, name=f"p{number}", circuit="c", submitted_s=0.0)
            writer.insert(proof, Partition(proof_id=proof.id, index=0))
            writer.update(Proof, proof.id, state="running")
            writer.update(Proof, proof.id, state="succeeded", ended_s=1.0)
        writer.update(Run, made.id, state="succeeded", peak_rss_bytes=5)
    assert writer.close() is None
    summary = list_runs(history)[0]
    assert (summary.run.state, summary.run.peak_rss_bytes) == ("succeeded", 5)
    assert (summary.proof_count, summary.succeeded_count) == (20, 20)


def test_flush_makes_it_visible(history: History) -> None:
    with history.writer() as writer:
        writer.insert(make_run())
        assert writer.flush()
        assert names(history) == ["batch"]


def test_a_row_is_taken_as_it_was(history: History) -> None:
    with history.writer() as writer:
        writer.insert(made := make_run("before"))
        made.name = "after"
    assert names(history) == ["before"]


def test_many_threads_many_rows(history: History, run: Run) -> None:
    def sample(thread: int) -> None:
        for number in range(500):
            writer.insert(
                MemorySample(
                    run_id=run.id, sequence=4 * number + thread, at_s=float(number), reserved_bytes=thread
                )
            )

    with history.writer() as writer, ThreadPoolExecutor(4) as pool:
        list(pool.map(sample, range(4)))
    samples = memory_samples(history, run.id)
    assert len(samples) == 2000
    for thread in range(4):
        assert [one.at_s for one in samples if one.reserved_bytes == thread] == [float(n) for n in range(500)]


def test_a_row_that_is_refused_takes_no_other_with_it(
    history: History, run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "cuzk.history"), history.writer() as writer:
        orphan = Proof(run_id="nowhere", name="p", circuit="c", submitted_s=0.0)
        writer.insert(make_run("a"), run, make_run("b"), orphan)
        writer.update(Run, "nowhere", state="failed")
        writer.update(Run, run.id, misspelt=1)
        writer.insert(make_run("c"))
    assert names(history) == ["a", "b", "batch", "c"]
    assert writer.lost == 3
    error = writer.close()
    assert "records were lost: " in str(error)
    assert "\n" not in str(error)
    assert error is not None
    assert error.__cause__ is not None
    ours = [record.getMessage() for record in caplog.records if record.name == "cuzk.history"]
    assert str(error) == f"{ours[0]}; 3 in all"
    assert len(ours) == 1


@pytest.mark.parametrize(
    "change", [("nowhere", {"state": "failed"}, "no run 'nowhere'"), ("", {"bad": 1}, "bad")]
)
def test_an_update_that_cannot_be_is_named(
    history: History, run: Run, change: tuple[str, dict[str, object], str]
) -> None:
    id_, values, expected = change
    with history.writer() as writer:
        writer.update(Run, id_ or run.id, **values)
    assert expected in str(writer.error)


def test_a_database_that_comes_back_gets_every_row(file: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("db.writer._GATHER_S", 0.05)
    tried = threading.Event()
    monkeypatch.setattr("db.writer._RETRY_WAITS_S", (0.01,) * 1000)
    monkeypatch.setattr(
        "db.writer.time.sleep", lambda seconds: (tried.set(), threading.Event().wait(seconds))
    )
    writer = file.writer()
    with locked(file):
        writer.insert(make_run("a"))
        assert tried.wait(60)
        writer.insert(make_run("b"))
    assert writer.close() is None
    assert writer.lost == 0
    assert names(file) == ["a", "b"]


def test_what_a_database_that_stays_away_should_have_is_imported_later(
    file: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("db.writer._RETRY_WAITS_S", (0.01,))
    writer = file.writer()
    with locked(file):
        writer.insert(make_run("a"), make_run("b"))
        assert writer.flush()
        assert len(list(file.spool.iterdir())) == 1
        writer.insert(c := make_run("before"))
        writer.update(Run, c.id, name="c")
        assert writer.flush()
        said = str(writer.close())
    assert spooled_run(file, c.id).run.name == "c"
    assert "cannot be written: database is locked; the records are kept in" in said
    assert "\n" not in said
    assert (writer.lost, names(file)) == (0, [])
    with open_history(file.address) as again:
        assert names(again) == ["a", "b", "c"]
        assert not again.spool.exists()


def test_a_full_queue_drops_rather_than_waits(file: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("db.writer._RETRY_WAITS_S", (0.01,) * 1000)
    writer = HistoryWriter(file.engine, file.address, Spool(file.spool), capacity=10)
    with locked(file):
        writer.insert(*(make_run(str(number)) for number in range(15)))
        assert writer.lost == 5
        assert not writer.flush(timeout_s=0.01)
    assert "rows come faster than they can be written" in str(writer.close())
    assert names(file) == [str(number) for number in range(10)]


def test_closing_does_not_wait_for_ever(file: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("db.writer._RETRY_WAITS_S", (0.01,) * 1000)
    writer = file.writer()
    with locked(file):
        writer.insert(make_run("late"))
        said = str(writer.close(timeout_s=0.01))
        assert "not written within 0.01 s; the records are kept in" in said
        assert len(list(file.spool.iterdir())) == 1
    assert writer.flush()
    assert writer.lost == 0


def test_a_closed_writer_takes_nothing(history: History) -> None:
    writer = history.writer()
    assert writer.close() is None
    writer.insert(make_run())
    assert "the writer is closed" in str(writer.close())
    assert (writer.lost, names(history)) == (1, [])


def test_a_server_that_drops_the_connection_costs_nothing(postgresql: str) -> None:
    with open_history(postgresql) as history, history.writer() as writer:
        writer.insert(make_run("before"))
        writer.flush()
        with open_history(postgresql) as other, other.engine.connect() as connection:
            ours = "application_name = 'cuzk' AND pid <> pg_backend_pid()"
            killed = text(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {ours}")
            assert connection.scalars(killed).all() == [True]
        writer.insert(make_run("after"))
        assert writer.close() is None
        assert names(history) == ["after", "before"]


def test_a_server_that_falls_silent_is_left(postgresql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("db.history._ANSWER_TIMEOUT_S", 0.5)
    with open_history(postgresql) as history, history.writer() as writer:
        writer.insert(make_run("before"))
        writer.flush()
        with open_history(postgresql) as other, other.engine.connect() as connection:
            ours = "application_name = 'cuzk' AND pid <> pg_backend_pid()"
            pid = connection.scalar(text(f"SELECT pid FROM pg_stat_activity WHERE {ours}"))
        os.kill(pid, signal.SIGSTOP)
        try:
            writer.insert(make_run("after"))
            assert writer.close() is None
            assert names(history) == ["after", "before"]
        finally:
            os.kill(pid, signal.SIGCONT)


def test_a_server_that_is_long_in_being_found_missing_is_not_asked_again(
    file: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("db.writer._RETRY_WAITS_S", (60.0, 60.0))
    writer = file.writer()
    with locked(file):
        writer.insert(make_run("late"))
        assert writer.flush(timeout_s=3600.0)
        assert "the records are kept in" in str(writer.close())


def test_an_error_while_proving_passes_through(history: History) -> None:
    def prove() -> None:
        with history.writer() as writer:
            writer.insert(make_run())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        prove()
    assert names(history) == ["batch"]


def test_putting_in_never_waits_for_the_database(file: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("db.writer._RETRY_WAITS_S", (0.01,) * 1000)
    writer = file.writer()
    with locked(file):
        ahead = threading.Thread(target=lambda: [writer.insert(make_run()) for _ in range(2000)])
        ahead.start()
        ahead.join(60)
        assert not ahead.is_alive(), "2000 rows were not taken while the database was locked"
        with file.read() as session:
            assert session.scalar(select(func.count()).select_from(Run)) == 0
    writer.close()


def test_rows_may_come_as_values(history: History, run: Run) -> None:
    with history.writer() as writer:
        rows = [{"run_id": run.id, "sequence": n, "at_s": float(n), "reserved_bytes": n} for n in range(2500)]
        writer.insert_values(MemorySample, rows)
        writer.insert_values(
            MemorySample, [{"run_id": "nobody's", "sequence": 0, "at_s": 0.0, "reserved_bytes": 0}]
        )
    assert [sample.reserved_bytes for sample in memory_samples(history, run.id)] == list(range(2500))
    assert writer.lost == 1


def test_what_neither_database_nor_spool_takes_is_given_up_at_the_end(
    file: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("db.writer._RETRY_WAITS_S", (0.01,))
    monkeypatch.setattr("db.writer._PROBE_S", 3600.0)
    file.spool.write_text("a file where the folder would be")
    writer = file.writer()
    with locked(file):
        writer.insert(make_run("a"), make_run("b"))
        assert not writer.flush(timeout_s=3600.0)
        writer.insert(make_run("c"))
        assert not writer.flush(timeout_s=3600.0)
        error = str(writer.close(timeout_s=3600.0))
    assert "database is locked, nor kept" in error
    assert error.endswith("; 3 in all")


def test_what_waits_in_memory_is_tried_once_more_at_the_end(
    file: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("db.writer._RETRY_WAITS_S", (0.01,))
    monkeypatch.setattr("db.writer._PROBE_S", 3600.0)
    file.spool.write_text("a file where the folder would be")
    writer = file.writer()
    with locked(file):
        writer.insert(make_run("a"))
        assert not writer.flush(timeout_s=3600.0)
    assert writer.close(timeout_s=3600.0) is None
    assert names(file) == ["a"]
