"""Messages that nobody meant, some hundred; `python -m benchmarks.daemon fuzz` sends ten thousand."""

import asyncio

from benchmarks.daemon.fuzz import fuzz


def test_no_message_ends_the_daemon_hangs_it_or_stands_in_a_log() -> None:
    found = asyncio.run(fuzz(300, seed=7))
    assert (found["crashed"], found["unanswered"], found["mistakes"], found["logged"]) == (0, 0, 0, [])
    assert found["proves_after"]
