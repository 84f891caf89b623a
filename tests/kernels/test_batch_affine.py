"""Sums of groups of points against sums of their logarithms."""

import random

import numpy as np
import pytest

from kernels.cpu import ifma
from kernels.cpu.batch_affine import new_scratch, sum_groups
from kernels.cpu.batch_affine64 import BLOCK, element_words
from kernels.cpu.curve import read_only_bytes
from kernels.cpu.lane_bundles import MOST_POINTS
from kernels.encoding import decode_points, encode_points
from tests.kernels.points import GROUPS, multiples, multiply, name, negative

each_group = pytest.mark.parametrize("G", GROUPS, ids=name)
UNTOUCHED = 77
VARIANTS = ["off", "auto" if ifma.available() else "emulated"]


@pytest.fixture(autouse=True, scope="module", params=VARIANTS)
def variant(request):
    """Lanes off and on; on, with emulated instructions where the processor lacks them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernels.cpu.lane_tokens.CHOICE", request.param)
        yield


def check(G, groups, most=40):
    """groups: lists of logarithms below `most` in size."""
    table = multiples(G, most)
    points = read_only_bytes(encode_points(G, table))
    codes = np.array([2 * abs(i) + (i < 0) for group in groups for i in group] + [0], np.uint32)
    starts = np.cumsum([0, *map(len, groups)], dtype=np.int64)
    sums = np.full((2 * len(groups) + 2, element_words(G.field)), UNTOUCHED, np.uint64)
    sum_groups(G.field, sums, 1, points, codes, starts, len(groups), new_scratch(G.field))
    assert (sums[:2] == UNTOUCHED).all()
    for k, group in enumerate(groups):
        own = sums[2 * k + 2 : 2 * k + 4]
        if not group:
            assert (own == UNTOUCHED).all()
            continue
        total = sum(group)
        small = table[abs(total)] if abs(total) < most else multiply(G, G.generator, abs(total))
        expected = negative(G, small) if total < 0 else small
        assert decode_points(G, own.reshape(1, *G.point_shape)) == [expected]


@each_group
def test_groups_of_every_small_size(G):
    rng = random.Random(1)
    check(
        G, [[rng.randrange(-39, 40) for _ in range(size)] for size in (0, 1, 2, 3, 7, 8, 9, 0, 0, 15, 16, 17)]
    )
    check(G, [])
    check(G, [[], []])


@each_group
def test_infinity_equal_and_opposite_points_anywhere(G):
    check(G, [[0], [0, 0], [0, 5], [5, 0], [5, 5], [5, -5], [-5, 5], [-5, -5], [0, 0, 0, 5]])
    check(G, [[5] * size for size in range(1, 20)] + [[5, -5] * size for size in range(1, 10)])
    check(G, [[1, 2, 3, -3], [1, 2, -3], [1, -2, 1, 4], [3, 1, 1, 1], [6, 2, -6, -2, 0]])


@each_group
def test_runs_of_exceptions(G):
    """Every pair of a round is an exception, or all but one, or one of many."""
    rng = random.Random(3)
    check(G, [[9, 9, -9, -9, 9, -9, 0, 9] * 8] * 9)
    check(G, [[rng.choice([2, -2]) for _ in range(40)] for _ in range(17)])
    groups = [[rng.randrange(1, 40) for _ in range(33)] for _ in range(20)]
    groups[13] = [*range(1, 17), 7, *range(1, 17)]  # of this group only, equal points meet at once
    check(G, groups)


@each_group
@pytest.mark.parametrize("size", [BLOCK - 2, BLOCK - 1, BLOCK, BLOCK + 1])
def test_groups_at_the_end_of_a_block(G, size):
    rng = random.Random(size)
    check(G, [[rng.randrange(-3, 4) for _ in range(size)], [1], [2, 3], [4, -4]])
    check(G, [[1], [], [rng.randrange(-3, 4) for _ in range(size)]])


@each_group
@pytest.mark.parametrize("size", [MOST_POINTS + i for i in (-1, 0, 1)])
def test_groups_of_a_piece_or_two(G, size):
    rng = random.Random(size)
    check(G, [[rng.randrange(-39, 40) for _ in range(size)] for _ in range(9)] + [[1], [], [2, -2]])
    check(G, [[rng.randrange(1, 4) for _ in range(size - i)] for i in range(0, 100, 9)])


def test_groups_of_several_blocks():
    G = GROUPS[0]
    check(G, [[3, 4], [1] * (3 * BLOCK), [2], [1, -1] * BLOCK, [0] * BLOCK + [7], [5, 6]])
    check(G, [[i % 4] for i in range(2 * BLOCK + 1)])


def test_a_group_of_pieces_of_pieces():
    check(GROUPS[0], [[1 + i % 39 for i in range(MOST_POINTS**2 + 1)]])
