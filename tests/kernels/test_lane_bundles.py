"""Bundles against the groups that they are made of."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.cpu.lane_bundles import MOST_POINTS, NOWHERE, lay_out, sort_by_digits


def groups_in(bundles):
    """The codes of each group, by its number."""
    found, first = {}, 0
    for bundle, size in enumerate(bundles.sizes):
        for lane, target in enumerate(bundles.targets[8 * bundle : 8 * bundle + 8]):
            rows = range(first, first + size)
            own = [int(bundles.codes[8 * row + lane]) for row in rows if not bundles.missing[row] >> lane & 1]
            assert (target == NOWHERE) == (own == [])
            if own:
                assert target not in found
                found[int(target)] = own
        first += size
    assert first == len(bundles.missing)
    for cut, group in enumerate(bundles.cut_groups):
        pieces = range(*bundles.cut_starts[cut : cut + 2])
        found[int(group)] = [code for piece in pieces for code in found.pop(-2 - piece)]
    return found


@given(st.lists(st.integers(0, 3 * MOST_POINTS + 2), max_size=30))
@settings(max_examples=50, deadline=None)
def test_bundles_hold_every_code_once(lengths):
    starts = np.cumsum([3, *lengths], dtype=np.int64)
    codes = np.arange(starts[-1] + 5, dtype=np.uint32)
    expected = {group: list(range(*starts[group : group + 2])) for group in range(len(lengths))}
    found = groups_in(lay_out(codes, starts, len(lengths)))
    assert found == {group: own for group, own in expected.items() if own}


def test_bundles_waste_little():
    """Lanes without points are no more than a piece's eight times, whatever the groups."""
    rng = random.Random(1)
    for lengths in ([rng.randrange(600) for _ in range(500)], [2**i for i in range(16)], [1] * 90 + [5000]):
        starts = np.cumsum([0, *lengths], dtype=np.int64)
        bundles = lay_out(np.zeros(starts[-1], np.uint32), starts, len(lengths))
        assert 8 * len(bundles.missing) - sum(lengths) <= 8 * MOST_POINTS


@pytest.mark.parametrize("half", [2, 16, 1 << 15])
@pytest.mark.parametrize("highest", [1, 7])
@pytest.mark.parametrize("most", [1, 3, 1 << 15])
def test_digits_are_sorted_into_bundles(half, highest, most):
    rng, n, most = random.Random(half), 1000, min(half, most)
    signed = [[rng.randrange(0 if row == highest else -most, most + 1) for _ in range(n)] for row in range(2)]
    codes = np.array([2 * i + i % 3 // 2 for i in range(n)], np.uint32)
    bundles = sort_by_digits(np.array(signed).astype(np.uint16), highest, codes, half, 5, 990)
    expected = {}
    for row, digits in enumerate(signed):
        for i in range(5, 990):
            if digits[i]:
                group = row * half + abs(digits[i]) - 1
                expected.setdefault(group, []).append(int(codes[i]) ^ (digits[i] < 0))
    assert groups_in(bundles) == expected
