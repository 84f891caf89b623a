"""A process whose thread never comes back from a system call, told to stop."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STUCK = """
import os, signal, sys
from concurrent.futures import ThreadPoolExecutor
from engine import forced_end

def interrupt(*_):
    raise KeyboardInterrupt

forced_end.END_WITHIN_S = float(sys.argv[2])
signal.signal(signal.SIGTERM, interrupt)
forced_end.end_soon_after_a_signal()
os.mkfifo(sys.argv[1])
try:
    with ThreadPoolExecutor() as pool:
        try:
            stuck = pool.submit(open, sys.argv[1])
            print("stuck", flush=True)
            stuck.result()
        finally:
            print("interrupted", flush=True)
except KeyboardInterrupt:
    sys.exit(130)
"""
STUCK_BESIDE_A_LOOP = """
import asyncio, os, sys
from engine import forced_end
from flows.ends.signals import cancelled_by_signals

forced_end.END_WITHIN_S = float(sys.argv[2])
os.mkfifo(sys.argv[1])

async def steps():
    with cancelled_by_signals():
        print("stuck", flush=True)
        try:
            await asyncio.to_thread(open, sys.argv[1])
        finally:
            print("interrupted", flush=True)

asyncio.run(steps())
"""
WAITS_LONG = "600"
BY_FORCE = "cuzk: interrupted; ended without waiting for what was still under way\n"


def start(code: str, pipe: Path, end_within_s: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", code, str(pipe), end_within_s]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "stuck\n"
    return process


@pytest.mark.parametrize("code", [STUCK, STUCK_BESIDE_A_LOOP])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_ends_the_process_soon(tmp_path: Path, code: str, number: signal.Signals) -> None:
    process = start(code, tmp_path / "pipe", "0.2")
    process.send_signal(number)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert complaint == BY_FORCE


@pytest.mark.parametrize("code", [STUCK, STUCK_BESIDE_A_LOOP])
def test_a_second_signal_ends_it_at_once(tmp_path: Path, code: str) -> None:
    process = start(code, tmp_path / "pipe", WAITS_LONG)
    process.send_signal(signal.SIGTERM)
    assert process.stdout is not None
    assert process.stdout.readline() == "interrupted\n"
    process.send_signal(signal.SIGTERM)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    # Python may take a thread for ended whose join was interrupted: then the process ends by itself.
    assert complaint in ("", BY_FORCE)
