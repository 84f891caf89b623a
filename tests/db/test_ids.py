"""Identifiers are RFC 9562's version 7, in the order of their making, never twice."""

import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

from db import new_id
from db.ids import first_id


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


def test_the_first_of_a_moment_parts_earlier_ids_from_later_ones() -> None:
    before = new_id()
    time.sleep(0.002)
    moment = datetime.now(UTC)
    time.sleep(0.002)
    later = new_id()
    assert before < first_id(moment) < later
    assert uuid.UUID(first_id(moment)).version == 7
