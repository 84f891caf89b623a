"""SIGTERM inside and outside of the block."""

import asyncio
import os
import signal
import threading

import pytest

from flows.signals import cancelled_by_sigterm


def test_sigterm_cancels_the_task_and_the_loop_goes_on() -> None:
    async def steps() -> str:
        try:
            with cancelled_by_sigterm():
                os.kill(os.getpid(), signal.SIGTERM)
                await asyncio.sleep(600)
        except asyncio.CancelledError:
            await asyncio.sleep(0)  # there is time to free what is held
            return "cancelled"
        return "slept"

    assert asyncio.run(steps()) == "cancelled"


def test_the_handler_that_was_there_is_there_again() -> None:
    received: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _frame: received.append(number))

    async def steps() -> None:
        with cancelled_by_sigterm():
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
        with cancelled_by_sigterm():
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
    with pytest.raises(RuntimeError), cancelled_by_sigterm():
        pass
