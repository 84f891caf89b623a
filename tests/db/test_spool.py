"""Records outlive a database that is away, a killed process and a full disk, and each comes once."""

import errno
import logging
import resource
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from db import History, HistoryError, Proof, Run, Stage, list_runs, open_history, show_run
from db.changes import Insert, Update, insert_of, table_of
from db.lines import decode, encode
from db.spool import Spool


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[History]:
    """An SQLite history whose writers soon take it for away, and soon look again."""
    monkeypatch.setattr("db.connect.BUSY_TIMEOUT_S", 0.01)
    monkeypatch.setattr("db.writer._RETRY_WAITS_S", ())
    monkeypatch.setattr("db.writer._PROBE_S", 0.01)
    with open_history(tmp_path / "h.db") as history:
        yield history


@contextmanager
def locked(path: str) -> Iterator[None]:
    """While another holds the write lock."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield
    other.execute("ROLLBACK")
    other.close()


def make_run(name: str) -> Run:
    return Run(source="real", name=name, code_version="1", state="succeeded")


def names(history: History) -> list[str]:
    return [summary.run.name for summary in reversed(list_runs(history))]


@contextmanager
def no_file_longer_than(size_bytes: int) -> Iterator[None]:
    """As on a disk that is full then: what goes beyond is refused, once the rest of the room is taken."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_of_what_a_full_disk_has_no_room_for_nothing_is_kept(tmp_path: Path) -> None:
    spool, changes = Spool(tmp_path), [insert_of(make_run(name)) for name in "abc"]
    spool.keep(changes[:1])
    kept = spool.path.read_bytes()
    with no_file_longer_than(len(kept) * 2 + 10), pytest.raises(OSError, match="File too large"):
        spool.keep(changes[1:])
    assert spool.path.read_bytes() == kept


def test_a_damaged_line_keeps_no_other_back(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "h.db-spool"
    folder.mkdir()
    lines = [encode(insert_of(make_run(name))) for name in "ab"]
    (folder / "1.jsonl").write_bytes(b"\xff\x00 torn" + "\n".join(["", *lines]).encode())
    with open_history(tmp_path / "h.db") as history:
        assert names(history) == ["a", "b"]
    assert "a record is refused and skipped: found '\ufffd\\x00 torn" in caplog.text


def test_what_was_kept_goes_first_when_the_database_is_back(
    file: History, caplog: pytest.LogCaptureFixture
) -> None:
    writer = file.writer()
    with caplog.at_level(logging.INFO, "cuzk.history"):
        with locked(file.address):
            writer.insert(kept := make_run("before"))
            assert writer.flush()
            assert names(file) == []
        writer.update(Run, kept.id, name="a")
        writer.insert(make_run("b"))
        assert writer.close() is None
    assert (names(file), writer.lost) == (["a", "b"], 0)
    assert not file.spool.exists()
    away, back = [record.getMessage() for record in caplog.records if record.name == "cuzk.history"]
    assert f"{file.address}: cannot be written: database is locked; the records are kept in " in away
    assert back == f"{file.address}: is back, and all records are in it"


def test_where_neither_database_nor_disk_takes_them_they_wait_in_memory(
    file: History, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(_: Spool, __: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Spool, "keep", full)
    writer = file.writer()
    with locked(file.address):
        writer.insert(make_run("a"))
        assert not writer.flush(0.1)
        deadline_s = time.monotonic() + 60
        while "up to 100,000 records wait in memory" not in caplog.text:
            assert time.monotonic() < deadline_s, "nobody was told where the records are"
            time.sleep(0.01)
        writer.insert(make_run("b"))
    assert writer.close() is None
    assert (names(file), writer.lost) == (["a", "b"], 0)
    writer = file.writer()
    with locked(file.address):
        writer.insert(make_run("c"))
        error = str(writer.close())
    assert "database is locked, nor kept" in error
    assert "No space left on device" in error
    assert writer.lost == 1


KEEPS_AND_DIES = """
import sys, time
import db.connect, db.writer
db.connect.BUSY_TIMEOUT_S, db.writer._RETRY_WAITS_S = 0.01, ()
history = db.open_history(sys.argv[1])
print("open", flush=True)
sys.stdin.readline()
writer = history.writer()
run = db.Run(source="real", name="killed", code_version="1")
writer.insert(run, proof := db.Proof(run_id=run.id, name="p", circuit="c", submitted_s=0.0))
writer.update(db.Proof, proof.id, state="succeeded", ended_s=1.0)
assert writer.flush()
print(run.id, flush=True)
time.sleep(600)
"""


def test_a_killed_process_leaves_what_it_kept_to_the_next_opening(tmp_path: Path) -> None:
    path = str(tmp_path / "h.db")
    command = [sys.executable, "-c", KEEPS_AND_DIES, path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        process.stdout.readline()
        with locked(path):
            process.stdin.write("\n")
            process.stdin.flush()
            run_id = process.stdout.readline().strip()
        with open_history(path) as history:
            assert names(history) == [], "what a living process has kept is its own"
        process.kill()
    for _ in range(2):
        with open_history(path) as history:
            detail = show_run(history, run_id)
            assert detail.run.state == "interrupted"
            assert [proof.proof.state for proof in detail.proofs] == ["succeeded"]
    assert not Path(f"{path}-spool").exists()


ENDS_AND_DIES = """
import os, sys
import db, db.writer
db.writer._GATHER_S = 600.0
with db.open_history(sys.argv[1]) as history:
    writer = history.writer()
    run = db.Run(source="real", name="killed", code_version="1")
    first, second = (db.Proof(run_id=run.id, name=n, circuit="c", submitted_s=0.0) for n in "ab")
    if sys.argv[2] == "some":
        writer.insert(run, first, db.Partition(proof_id=first.id, index=0))
        assert writer.flush()
    writer.insert(run, first, second)
    writer.update(db.Proof, first.id, state="running")
    writer.update(db.Proof, first.id, state="succeeded", ended_s=1.0)
    print(run.id, flush=True)
    os.kill(os.getpid(), 9)
"""


PUBLISHES_AND_DIES = """
import os, sys
from pathlib import Path
import db, db.writer
db.writer._GATHER_S = 600.0
with db.open_history(sys.argv[1]) as history:
    writer = history.writer()
    run = db.Run(source="real", name="killed", code_version="1")
    for name in ("published", "not", "older"):
        path = Path(sys.argv[2]) / name
        proof = db.Proof(run_id=run.id, name=name, circuit="c", state="running", submitted_s=0.0)
        writer.insert(run, proof)
        writer.update(db.Proof, proof.id, proof_path=str(path))
        path.touch() if name != "not" else None
        os.utime(path, (0, 0)) if name == "older" else None
    print(run.id, flush=True)
    os.kill(os.getpid(), 9)
"""


def test_a_proof_whose_files_got_their_names_just_before_a_kill_succeeded(
    address: str, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", PUBLISHES_AND_DIES, address, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    with open_history(address) as history:
        proofs = [each.proof for each in show_run(history, done.stdout.strip()).proofs]
    assert {each.name: (each.state, each.proof_path) for each in proofs} == {
        "published": ("succeeded", str(tmp_path / "published")),
        "not": ("interrupted", None),
        "older": ("interrupted", None),
    }


@pytest.mark.parametrize("committed", ["some", "nothing"])
def test_a_proof_that_has_ended_is_there_whatever_was_committed(address: str, committed: str) -> None:
    command = [sys.executable, "-c", ENDS_AND_DIES, address, committed]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    with open_history(address) as history:
        detail = show_run(history, done.stdout.strip())
    assert detail.run.state == "interrupted"
    assert [(each.proof.name, each.proof.state) for each in detail.proofs] == [("a", "succeeded")]
    states = [each.partition.state for each in detail.proofs[0].partitions]
    assert states == (["succeeded"] if committed == "some" else [])


def test_what_is_committed_need_not_be_noted(file: History) -> None:
    with file.writer() as writer:
        for number in range(3):
            writer.insert(run := make_run(str(number)))
            writer.update(Run, run.id, ended_at=datetime.now(UTC))
            assert [path.stat().st_size > 0 for path in file.spool.iterdir()] == [True]
            assert writer.flush()
            assert [path.stat().st_size for path in file.spool.iterdir()] == [0]
    assert not file.spool.exists()


def test_importing_twice_is_importing_once(history: History, address: str) -> None:
    run = make_run("spooled")
    proof = Proof(run_id=run.id, name="p", circuit="c", submitted_s=0.0)
    changes = [
        Insert(table_of(type(row)), {c.key: getattr(row, c.key) for c in table_of(type(row)).columns})
        for row in (run, proof)
    ]
    changes += [Update(table_of(Proof), (proof.id,), {"state": "succeeded"})]  # type: ignore[list-item]
    for _ in range(2):
        history.spool.mkdir(parents=True)
        lines = "".join(map(encode, changes))
        (history.spool / "left.jsonl").write_text(lines + '["insert","run",{"id":"cut off in the mid')
        with open_history(address) as again:
            detail = show_run(again, run.id)
            assert (detail.run.name, [each.proof.state for each in detail.proofs]) == (
                "spooled",
                ["succeeded"],
            )
            assert not again.spool.exists()


def test_lines_come_back_as_they_were() -> None:
    change = Insert(
        table_of(Run), {"id": "x", "started_at": datetime.now(UTC), "error": 'a "b"\nc ü', "packed": False}
    )
    assert decode(encode(change)) == change
    update = Update(table_of(Stage), ("x", 3), {"ended_s": 0.1, "wait_cause": None})
    assert decode(encode(update)) == update
    assert encode(update).count("\n") == 1
    for line in ('{"a": 1}', "[1]", '["insert","nothing",{}]', '["insert","run",{"colour":1}]', "\x00", "[]"):
        with pytest.raises(HistoryError, match="expected a line of a history"):
            decode(line)


WRITES = """
import sys, db
with db.open_history(sys.argv[1]) as history, history.writer() as writer:
    for number in range(5):
        run = db.Run(source="real", name=sys.argv[2], code_version="1", state="succeeded")
        writer.insert(run)
        for _ in range(20):
            writer.insert(proof := db.Proof(run_id=run.id, name="p", circuit="c", submitted_s=0.0))
            writer.update(db.Proof, proof.id, state="succeeded", ended_s=1.0)
        writer.flush()
    assert writer.close() is None and writer.lost == 0, writer.error
"""


def test_four_processes_write_at_once(tmp_path: Path) -> None:
    address = str(tmp_path / "h.db")
    processes = [
        subprocess.Popen([sys.executable, "-c", WRITES, address, str(n)], stderr=subprocess.PIPE, text=True)
        for n in range(4)
    ]
    for process in processes:
        _, said = process.communicate(timeout=300)
        assert (process.returncode, said) == (0, "")
    with open_history(address) as history:
        summaries = list_runs(history, limit=1000)
    assert len(summaries) == 20
    assert {(each.proof_count, each.succeeded_count) for each in summaries} == {(20, 20)}
