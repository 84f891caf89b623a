"""A process watched from outside: found and checked alive, and never logged as nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest

from bench.errors import BenchError
from bench.monitor import GpuUse, Look, Monitor, ProcessSample, by_address, by_pid, by_pid_file, gpus
from bench.monitor.gpus import Gpus
from bench.monitor.look import pool_of
from tests.bench.conftest import Watched


@pytest.mark.parametrize("address", ["unix", "tcp"])
def test_a_process_is_found_by_what_it_listens_on(watched: Watched, address: str) -> None:
    target = by_address(getattr(watched, address))
    assert target.pid == watched.process.pid
    assert target.alive


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("unix:///nowhere/cuzk.sock", "nobody listens there"),
        ("127.0.0.1:1", "nobody listens there"),
        ("http://192.0.2.1:9820", "another machine"),
        ("http://127.0.0.1", "expected HOST:PORT"),
        ("127.0.0.1:port", "expected HOST:PORT"),
    ],
)
def test_an_address_where_nothing_can_be_watched_is_refused(address: str, why: str) -> None:
    with pytest.raises(BenchError, match=why):
        by_address(address)


def test_a_process_id_in_a_file_is_the_process_s_that_wrote_it(watched: Watched, tmp_path: Path) -> None:
    file = tmp_path / "daemon.pid"
    file.write_text(f"{watched.process.pid}\n")
    assert by_pid_file(file).pid == watched.process.pid


def test_a_process_id_that_was_used_again_is_refused(watched: Watched, tmp_path: Path) -> None:
    file = tmp_path / "daemon.pid"
    file.write_text(f"{watched.process.pid}\n")
    os.utime(file, (time.time() - 3600, time.time() - 3600))
    with pytest.raises(BenchError, match="whose id was used again"):
        by_pid_file(file)


@pytest.mark.parametrize(("shift_s", "found"), [(0, True), (-3600, False), (3600, False)])
def test_a_daemon_s_own_file_names_the_process_by_its_start_as_well(
    watched: Watched, tmp_path: Path, shift_s: float, found: bool
) -> None:
    file, pid = tmp_path / "daemon.pid", watched.process.pid
    started_at = datetime.fromtimestamp(psutil.Process(pid).create_time() + shift_s, UTC)
    file.write_text(json.dumps({"pid": pid, "process_started_at": started_at.isoformat()}))
    if found:
        assert by_pid_file(file).pid == pid
    else:
        with pytest.raises(BenchError, match="whose id was used again"):
            by_pid_file(file)


def test_a_process_id_of_a_process_that_is_gone_is_refused(watched: Watched, tmp_path: Path) -> None:
    file = tmp_path / "daemon.pid"
    file.write_text(f"{watched.process.pid}\n")
    watched.end()
    with pytest.raises(BenchError, match="does not run"):
        by_pid_file(file)


@pytest.mark.parametrize("text", ["", "cuzk", "\x00", "-1", "12x", "{}", '{"pid": 1}'])
def test_a_file_that_holds_no_process_id_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "daemon.pid"
    file.write_text(text)
    with pytest.raises(BenchError, match="expected a process's id"):
        by_pid_file(file)


def test_a_look_tells_memory_and_the_pools_threads_and_processors(watched: Watched) -> None:
    look = Look(by_pid(watched.process.pid))
    look.take()
    time.sleep(0.3)
    sample = look.take()
    assert sample.rss_bytes > sample.file_bytes > 0
    assert sample.pss_bytes is not None
    assert 0 < sample.pss_bytes <= sample.rss_bytes
    assert sample.pools["synthesis"].threads == 3
    assert sample.pools["proving"].threads == 1
    assert sample.pools["proving"].cores > sample.pools["synthesis"].cores
    assert sample.threads == sum(pool.threads for pool in sample.pools.values()) == 5


@pytest.mark.parametrize(
    ("name", "pool"),
    [
        ("synthesis_12", "synthesis"),
        ("asyncio_0", "asyncio"),
        ("memory-monitor", "memory-monitor"),
        ("python", "other"),
        ("", "other"),
        ("7", "other"),
    ],
)
def test_pools_by_the_names_of_threads(name: str, pool: str) -> None:
    assert pool_of(name, "python") == pool


def test_a_missing_tool_is_named_once_and_no_empty_value_is_logged(
    watched: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)  # as where it is not installed
    monkeypatch.setattr(gpus, "DEVICES", tmp_path)
    said: list[str] = []
    samples: list[ProcessSample] = []
    told: set[str] = set()

    def watch() -> None:
        target = by_pid(watched.process.pid)
        with Monitor(target, [samples.append], said.append, 0.02, told=told) as monitor:
            wait_until(lambda: monitor.count >= 5)

    watch()
    assert said == []  # there are no GPUs
    (tmp_path / "nvidia0").touch()
    watch()
    watch()  # the process after it, as when a daemon is started anew
    assert said == [
        "not known: memory of GPUs: nvidia-ml-py is not installed; pip install 'cuzk[gpu]' if there are GPUs"
    ]
    assert all(sample.rss_bytes > 0 and sample.threads > 0 for sample in samples)
    assert all(sample.gpus == () for sample in samples)


def test_a_library_without_a_driver_is_named() -> None:
    gpus = Gpus()
    assert (gpus.why_none is None) == bool(gpus.look(os.getpid()))
    gpus.close()


class Nvml:
    """As NVML answers, with one GPU; `pids`: what runs there, and what it holds."""

    class NVMLError(Exception):
        pass

    class Values:
        def __init__(self, **values: object) -> None:
            vars(self).update(values)

    def __init__(self, running: dict[int, int | None] | None) -> None:
        self.running = running
        self.closed = 0

    def nvmlInit(self) -> None: ...  # noqa: N802 the library's names

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.closed += 1

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return 1

    def nvmlDeviceGetHandleByIndex(self, ordinal: int) -> int:  # noqa: N802
        return ordinal

    def nvmlDeviceGetMemoryInfo(self, _handle: int) -> object:  # noqa: N802
        return self.Values(used=7, total=9)

    def nvmlDeviceGetComputeRunningProcesses(self, _handle: int) -> list[object]:  # noqa: N802
        if self.running is None:
            raise self.NVMLError("not supported")
        return [self.Values(pid=pid, usedGpuMemory=held) for pid, held in self.running.items()]


@pytest.mark.parametrize(
    ("running", "own"), [({5: 3, 6: 4}, 3), ({6: 4}, None), ({5: None}, None), (None, None), ({}, None)]
)
def test_memory_of_a_gpu_is_the_process_s_where_the_driver_tells_it(
    monkeypatch: pytest.MonkeyPatch, running: dict[int, int | None] | None, own: int | None
) -> None:
    nvml = Nvml(running)
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    gpus = Gpus()
    assert gpus.why_none is None
    assert gpus.look(5) == (GpuUse("gpu0", own, 7, 9),)
    gpus.close()
    gpus.close()
    assert nvml.closed == 1
    assert gpus.look(5) == ()


def test_the_end_of_the_process_is_told_and_ends_the_samples(watched: Watched) -> None:
    said: list[str] = []
    with Monitor(by_pid(watched.process.pid), [], said.append, 0.02) as monitor:
        watched.end()
        wait_until(lambda: monitor.ended is not None)
        count = monitor.count
        time.sleep(0.1)
        assert monitor.count == count
    assert said[-1] == monitor.ended
    assert "has ended" in said[-1]


def test_what_cannot_be_watched_is_refused_before_the_work(watched: Watched) -> None:
    target = by_pid(watched.process.pid)
    watched.end()
    with pytest.raises(BenchError, match="has ended"), Monitor(target, [], print):
        pytest.fail("it began")


def test_a_sink_that_fails_is_not_swallowed(watched: Watched) -> None:
    failures = iter([None, OSError("no space left")])

    def sink(_: object) -> None:
        if (error := next(failures, None)) is not None:
            raise error

    with (
        pytest.raises(OSError, match="no space left"),
        Monitor(by_pid(watched.process.pid), [sink], print, 0.01),
    ):
        time.sleep(0.2)


def wait_until(condition: object) -> None:
    end_s = time.monotonic() + 10
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end_s, "it takes too long"
        time.sleep(0.01)


CUZK = Path(sys.executable).with_name("cuzk")


def test_top_ends_when_head_has_read_enough(watched: Watched) -> None:
    command = f"{CUZK} top --addr {watched.tcp} --json --interval 0.1 | head -n 2; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=True)
    first, second, status = done.stdout.splitlines()
    assert first.startswith('{"at_s"')
    assert second.startswith('{"at_s"')
    assert status == "0"
    assert done.stderr == ""


def test_top_once_shows_a_table(watched: Watched) -> None:
    command = [CUZK, "top", "--pid", str(watched.process.pid), "--once", "--interval", "0.1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert "synthesis" in done.stdout
    assert "proportional share" in done.stdout
