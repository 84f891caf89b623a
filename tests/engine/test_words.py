"""Words come while the block works, whatever it does, and none after it."""

import threading

import pytest

from engine.words import telling


def test_words_come_from_another_thread_until_the_block_is_left() -> None:
    told, thrice = list[str](), threading.Event()

    def report(line: str) -> None:
        told.append(line)
        if len(told) == 3:
            thrice.set()

    with telling(report, lambda: f"word {len(told)}", every_s=0.001):
        assert thrice.wait(60)
    count = len(told)
    assert [line.split(",")[0] for line in told[:3]] == ["word 0", "word 1", "word 2"]
    assert all(line.endswith(" s so far") for line in told)
    assert not any(thread.name == "words" for thread in threading.enumerate())
    assert len(told) == count


def test_an_error_of_the_block_goes_on() -> None:
    with pytest.raises(ValueError, match="no"), telling(print, str):
        raise ValueError("no")
