"""SIGINT and SIGTERM inside and outside of the block."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.ends.signals import END_WITHIN_S, STOPPING, WORKER_WAITS_S, cancelled_by_signals, end_within_s

ROOT = Path(__file__).parents[3]
ENDS = """
import asyncio, os, signal
from flows.ends.signals import cancelled_by_signals

async def steps():
    try:
        with cancelled_by_signals():
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.sleep(600)
    except asyncio.CancelledError:
        await asyncio.sleep(0.1)  # there is time to free what is held
        return "cancelled"

print(asyncio.run(steps()))
"""

ENDS_SLOWLY = """
import asyncio, time
from flows.ends.signals import cancelled_by_signals

async def steps():
    with cancelled_by_signals():
        try:
            print("working", flush=True)
            await asyncio.sleep(600)
        finally:
            print("ending", flush=True)
            await asyncio.sleep(600)

asyncio.run(steps())
"""

ENDS_ALREADY = """
import asyncio, os, signal
from flows.ends.signals import cancelled_by_signals

async def steps():
    with cancelled_by_signals():
        asyncio.get_running_loop().call_later(0.1, asyncio.current_task().cancel)
        try:
            await asyncio.sleep(600)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.sleep(0.3)
            print("ended in good order", flush=True)

asyncio.run(steps())
"""


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """As they were: after a first signal the process is meant to end."""
    before = {number: signal.getsignal(number) for number in STOPPING}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_sigterm_cancels_the_task_and_the_loop_goes_on() -> None:
    done = subprocess.run([sys.executable, "-c", ENDS], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "cancelled\n"


@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_ends_the_process_at_once(first: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", ENDS_SLOWLY],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "working\n"
    process.send_signal(first)
    assert process.stdout.readline() == "ending\n"
    process.send_signal(signal.SIGTERM)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert complaint.startswith("cuzk: interrupted; ")


def test_a_signal_does_not_break_off_how_a_task_ends_that_was_cancelled_before() -> None:
    """As where a run sees that it is cancelled, and then its worker tells it to stop."""
    done = subprocess.run(
        [sys.executable, "-c", ENDS_ALREADY], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout == "ended in good order\n"


def test_the_handler_that_was_there_is_there_again() -> None:
    received: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _frame: received.append(number))

    async def steps() -> None:
        with cancelled_by_signals():
            await asyncio.sleep(0)
        os.kill(os.getpid(), signal.SIGTERM)

    try:
        asyncio.run(steps())
    finally:
        signal.signal(signal.SIGTERM, before)
    assert received == [signal.SIGTERM]


def test_a_flow_in_another_thread_runs_without_it() -> None:
    errors: list[BaseException] = []

    async def steps() -> None:
        with cancelled_by_signals():
            await asyncio.sleep(0)

    def run() -> None:
        try:
            asyncio.run(steps())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert not errors


def test_outside_of_an_event_loop_there_is_nothing_to_cancel() -> None:
    with pytest.raises(RuntimeError), cancelled_by_signals():
        pass


def test_a_worker_s_run_has_longer_to_say_how_it_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    assert end_within_s() == END_WITHIN_S
    monkeypatch.setenv("PREFECT__FLOW_RUN_ID", "a run of a worker")
    assert end_within_s() == WORKER_WAITS_S > END_WITHIN_S
