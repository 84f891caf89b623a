"""Identifiers are RFC 9562's version 7, in the order of their making, never twice."""

import time
import uuid
from concurrent.futures import ThreadPoolExecutor

from db import new_id


def test_layout_is_version_7() -> None:
    before_ms, made, after_ms = time.time_ns() // 10**6, uuid.UUID(new_id()), time.time_ns() // 10**6
    assert (made.version, made.variant) == (7, uuid.RFC_4122)
    assert before_ms <= made.int >> 80 <= after_ms + 100  # ids made in a burst run ahead of the clock


def test_text_is_canonical() -> None:
    made = new_id()
    assert str(uuid.UUID(made)) == made
    assert len(made) == 36


def test_later_ones_sort_after_earlier_ones() -> None:
    made = [new_id() for _ in range(5_000)]
    assert made == sorted(made)


def test_threads_never_get_the_same() -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: new_id(), range(5_000)))
    assert len(set(made)) == len(made)
    assert len({one[:18] for one in made}) == len(made)  # even without the random part
