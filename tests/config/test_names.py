"""Suggestions help with a slip of the finger and keep quiet otherwise."""

import pytest

from config import nearest

NAMES = ["multiplier", "merkle", "total_budget"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("merkel", "merkle"),
        ("MULTIPLIER", "multiplier"),
        ("total-budget", "total_budget"),
        ("zzz", None),
        ("", None),
    ],
)
def test_nearest(name: str, expected: str | None) -> None:
    assert nearest(name, NAMES) == expected


def test_nothing_is_nearest_among_none() -> None:
    assert nearest("merkle", []) is None
