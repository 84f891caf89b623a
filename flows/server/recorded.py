"""Waiting for Prefect's server to have recorded a run, before it is stopped."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from httpx import HTTPError
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.events.worker import EventsWorker
from prefect.logging.handlers import APILogHandler

from flows.server.local import WORD_EVERY_S, Say
from tasks.follow import started

SEND_WITHIN_S = 10.0
INTERRUPTED_WITHIN_S = 1.0
STALLED_AFTER_S = 15.0
FINAL = ["COMPLETED", "FAILED", "CANCELLED", "CRASHED"]


@contextmanager
def all_sent(say: Say, wait_until_recorded: bool) -> Iterator[None]:
    """After the block, what Prefect holds of the runs in it is sent, and if asked for, recorded.

    Whoever interrupts does not wait for that.
    """
    started.clear()
    try:
        yield
    except KeyboardInterrupt:
        send_what_is_pending(INTERRUPTED_WITHIN_S)
        raise
    except BaseException:
        _finish(say, wait_until_recorded)
        raise
    _finish(say, wait_until_recorded)


def _finish(say: Say, wait_until_recorded: bool) -> None:
    send_what_is_pending()
    if wait_until_recorded:
        wait_recorded(say)


def send_what_is_pending(within_s: float = SEND_WITHIN_S) -> None:
    """Wait until the server has what Prefect's threads still hold: states of tasks, and log lines.

    Prefect itself does so when the interpreter exits, which is too late for a server that stops before.
    """
    EventsWorker.drain_all(timeout=within_s)
    APILogHandler().flush()


def wait_recorded(say: Say) -> None:
    """Wait until every task is in the server's database with its last state, or say why not.

    The server keeps what it was sent in a queue, and would drop the queue's end when it is stopped.
    """
    try:
        _wait_recorded(say)
    except HTTPError as error:
        say(f"not all tasks may be recorded: the Prefect server does not answer ({error})")


def _wait_recorded(say: Say) -> None:
    recorded, moved_s = 0, time.monotonic()
    word_s = moved_s
    with get_client(sync_client=True) as client:
        while (now := _recorded(client)) < started.total():
            now_s = time.monotonic()
            if now > recorded:
                recorded, moved_s = now, now_s
            if now_s - moved_s > STALLED_AFTER_S:
                say(f"the Prefect server has recorded only {now} of {started.total()} tasks")
                return
            if now_s - word_s >= WORD_EVERY_S:
                word_s = now_s
                say(f"the Prefect server is recording, {now} of {started.total()} tasks so far")
            time.sleep(0.1)


def _recorded(client: SyncPrefectClient) -> int:
    """How many tasks of this process's flow runs have ended, as far as the server knows."""
    question = {
        "flow_runs": {"id": {"any_": list(started)}},
        "task_runs": {"state": {"type": {"any_": FINAL}}},
    }
    count: int = client.request("POST", "/task_runs/count", json=question).json()
    return count
