"""Reservations give back what they took, once, and the limit is never passed."""

import pytest

from policy.budget import Budget


def test_reserves_up_to_the_limit_and_no_further() -> None:
    budget = Budget(10)
    budget.reserve(7)
    assert budget.free_bytes == 3
    budget.reserve(3)
    with pytest.raises(AssertionError, match="no room for 1 bytes"):
        budget.reserve(1)
    assert (budget.reserved_bytes, budget.peak_bytes) == (10, 10)


def test_gives_back_in_parts_and_remembers_the_peak() -> None:
    budget = Budget(10)
    receipt = budget.reserve(9)
    receipt.release_part(4)
    assert (budget.reserved_bytes, receipt.size_bytes) == (5, 5)
    receipt.release()
    assert (budget.reserved_bytes, budget.peak_bytes) == (0, 9)


def test_a_receipt_is_good_once() -> None:
    budget = Budget(10)
    budget.reserve(5)
    receipt = budget.reserve(5)
    with pytest.raises(AssertionError, match="6 of 5 bytes"):
        receipt.release_part(6)
    receipt.release()
    with pytest.raises(AssertionError, match="twice"):
        receipt.release()
    with pytest.raises(AssertionError, match="after the whole"):
        receipt.release_part(0)
    assert budget.reserved_bytes == 5


def test_a_lowered_limit_lets_nothing_in_until_enough_came_back() -> None:
    budget = Budget(10)
    receipts = [budget.reserve(5), budget.reserve(5)]
    budget.resize(6)
    assert budget.free_bytes == -4
    receipts[0].release()
    assert budget.free_bytes == 1
    budget.resize(20)
    assert budget.free_bytes == 15


def test_without_a_limit_it_only_counts() -> None:
    budget = Budget(None)
    budget.reserve(10**15)
    assert budget.free_bytes >= 10**15
    assert budget.peak_bytes == 10**15
