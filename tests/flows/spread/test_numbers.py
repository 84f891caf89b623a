"""Numbers as a text and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config import ConfigError
from flows.spread.numbers import as_text, from_text


@given(st.sets(st.integers(0, 10**9)))
def test_it_says_what_it_was_given(numbers: set[int]) -> None:
    ascending = sorted(numbers)
    assert from_text(as_text(ascending)) == ascending


def test_what_a_host_is_asked_for_is_short() -> None:
    assert as_text(range(1, 80_000, 2)) == "1-79999:2"
    assert as_text([4, 6, 8, 9, 10, 11, 20, 31]) == "4-8:2, 9-11, 20, 31"
    assert as_text([]) == ""


@pytest.mark.parametrize("text", ["x", "3-", "5-2", "1, 1", "3, 2", "1-9:0", "-1", "0-99999999999"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="expected"):
        from_text(text)
