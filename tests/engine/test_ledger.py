"""The budget's file: whole at any moment, without those that are gone, and never a reason to hang."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from config import Config, MemoryConfig
from engine import EngineError, shared_ledger
from engine.alive import is_alive, started
from engine.doctor import examine
from engine.ledger import Ledger, LedgerBusy, others_resident_bytes
from engine.limits import Memory, policy_limits
from tests.engine.support import ROOT

HOLD = """
import sys, time
from pathlib import Path
from engine.ledger import Ledger
ledger = Ledger(Path(sys.argv[1]), "the other", 1000)
ballast = bytearray(1 << 20)
print(ledger.take(int(sys.argv[2])), flush=True)
time.sleep(600)
"""
ASK = HOLD.replace("take(int(sys.argv[2]))", "ask(900, 900)")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.json"


@pytest.fixture
def other(path: Path) -> Iterator["subprocess.Popen[str]"]:
    """Another process that holds 700 bytes."""
    command = [sys.executable, "-c", HOLD, str(path), "700"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "700\n"
    yield process
    process.kill()
    process.communicate()


def test_a_killed_process_holds_nothing_any_more(path: Path, other: "subprocess.Popen[str]") -> None:
    ledger = Ledger(path, "mine", 1000)
    assert ledger.ask(400, 500) == 0
    _, others = ledger.look()
    assert [(each.pid, each.name, each.share_bytes) for each in others] == [(other.pid, "the other", 700)]
    assert 0 < others_resident_bytes(path) <= 700
    other.send_signal(signal.SIGKILL)
    other.wait()
    assert ledger.ask(400, 500) == 500
    assert ledger.look()[1] == []
    ledger.leave()
    assert json.loads(path.read_text())["accounts"] == {}


def test_what_a_suspended_process_waits_for_is_not_kept_for_it(path: Path) -> None:
    ledger = Ledger(path, "mine", 1000)
    assert ledger.take(300) == 300
    command = [sys.executable, "-c", ASK, str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as waiting:
        assert waiting.stdout is not None
        assert waiting.stdout.readline() == "0\n"
        assert ledger.ask(400, 400) == 300
        waiting.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, waiting.pid, os.WSTOPPED)
        assert ledger.ask(400, 400) == 400
        waiting.kill()


def test_what_another_holds_counts_as_there_for_the_budget(
    path: Path, other: "subprocess.Popen[str]", monkeypatch: pytest.MonkeyPatch
) -> None:
    assert other.poll() is None
    monkeypatch.setattr("engine.limits.memory", lambda: Memory(2000, 500, "the machine"))
    shared = MemoryConfig(total_budget=1000, ledger=path)
    assert policy_limits(Config(memory=shared)).budget_bytes == 1000
    with pytest.raises(EngineError, match="500B of the machine's"):
        policy_limits(Config(memory=shared.model_copy(update={"ledger": "off"})))
    limits = policy_limits(Config(memory=shared))
    assert shared_ledger(Config(memory=MemoryConfig(ledger="off")), "mine", limits) is None


def test_a_slip_in_the_ledger_s_folder_is_refused(tmp_path: Path) -> None:
    config = Config(memory=MemoryConfig(total_budget=1000, ledger=tmp_path / "nosuch" / "memory.json"))
    with pytest.raises(EngineError, match=r"memory\.ledger: .*memory\.json: its folder is not there"):
        shared_ledger(config, "mine", policy_limits(config))
    assert not (tmp_path / "nosuch").exists()


def test_doctor_tells_who_has_a_share(path: Path, other: "subprocess.Popen[str]") -> None:
    config = Config(memory=MemoryConfig(ledger=path))
    found = {each.name: each for each in examine(config, None)}
    assert found["shared"].text == f"by {path}, of which the other (process {other.pid}) 700B has a share now"
    path.write_text("no ledger")
    found = {each.name: each for each in examine(config, None)}
    assert found["shared"].problem
    assert "is no ledger" in found["shared"].text


def test_shares_of_one_process_add_up_and_a_lost_file_is_written_anew(path: Path) -> None:
    first, second = Ledger(path, "first", 100), Ledger(path, "second", 100)
    assert (first.take(70), second.take(70)) == (70, 30)
    path.unlink()
    assert second.take(40) == 40  # who comes first enters what it knows of
    assert first.take(100) == 70
    book, _ = first.look()
    assert book.free_bytes == -10  # and the next gets nothing until that is mended
    assert Ledger(path, "third", 100).take(10) == 0


def test_many_at_once_never_hold_more_than_there_is(path: Path) -> None:
    ledgers = [Ledger(path, str(number), 100) for number in range(4)]
    seen: list[int] = []

    def take_and_give_back(ledger: Ledger) -> None:
        for _ in range(20):
            try:
                ledger.take(60)
                seen.append(ledger.look()[0].free_bytes)
                ledger.give_back(0)
            except LedgerBusy:
                pass

    threads = [threading.Thread(target=take_and_give_back, args=(each,)) for each in ledgers]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert seen
    assert min(seen) >= 0


def test_a_lock_that_is_not_let_go_is_waited_for_only_shortly(path: Path) -> None:
    ledger = Ledger(path, "mine", 100)
    ledger.take(50)
    with path.with_suffix(".lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        started_s = time.monotonic()
        with pytest.raises(LedgerBusy, match="another process holds the lock"):
            ledger.give_back(0)
        assert time.monotonic() - started_s < 30
    assert ledger.share_bytes == 50
    ledger.give_back(0)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 2}', '{"version": 1, "accounts": {"a": {}}}'])
def test_a_file_that_is_no_ledger_is_refused_by_name(path: Path, text: str) -> None:
    path.write_text(text)
    with pytest.raises(EngineError, match=r"memory\.json: is no ledger .*; once no batch runs, delete it"):
        Ledger(path, "mine", 100).join()
    assert path.read_text() == text


def test_a_link_is_the_ledger_that_it_leads_to_and_a_pipe_is_none(path: Path, tmp_path: Path) -> None:
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(path)
    Ledger(path, "a", 100).ask(60, 60)
    Ledger(link, "b", 100).ask(30, 30)
    assert link.is_symlink()
    assert len(json.loads(path.read_text())["accounts"]) == 2
    os.mkfifo(pipe)
    with pytest.raises(EngineError, match="no regular file"):
        Ledger(pipe, "c", 100).check()


def test_a_folder_that_cannot_be_made_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EngineError, match=r"set memory\.ledger to a file that can be written, or to \"off\""):
        Ledger(tmp_path / "file" / "memory.json", "mine", 100).join()


def fill(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)


def test_on_a_full_disk_nobody_new_comes_in(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(monkeypatch)
    with pytest.raises(EngineError, match=r"\(No space left on device\); make space on its disk, or set"):
        Ledger(path, "mine", 100).join()


def test_on_a_full_disk_those_who_are_in_go_on_within_the_budget(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = Ledger(path, "first", 100), Ledger(path, "second", 100)
    first.take(20)
    second.join()
    with monkeypatch.context() as full:
        fill(full)
        assert first.ask(50, 100) == 60  # and half of what was free
        assert second.ask(41, 41) == 0
        assert second.ask(30, 100) == 40
        first.give_back(50)
        first.look()
    told = [each for each in caplog.messages if "No space left on device" in each]
    assert len(told) == 2  # each of them once
    assert first.look()[0].free_bytes == 50
    assert second.look()[0].free_bytes == 10  # and it is known again who holds what
    assert first.take(100) == 60


def test_alone_on_a_full_disk_a_process_has_its_whole_budget(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(path, "mine", 100)
    ledger.join()
    fill(monkeypatch)
    assert ledger.ask(70, 70) == 70
    ledger.resize(90)
    assert ledger.take(100) == 90


def test_a_process_is_known_by_its_id_and_its_start(other: "subprocess.Popen[str]") -> None:
    start = started(other.pid)
    assert is_alive(other.pid, start)
    assert not is_alive(other.pid, started(os.getpid()))  # the id was used again
    other.kill()
    while Path(f"/proc/{other.pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.001)
    assert not is_alive(other.pid, start)  # a zombie holds no memory
    other.wait()
    assert not is_alive(other.pid, start)
    assert is_alive(1, started(1))
