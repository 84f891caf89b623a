"""Sums of groups of points against sums of their logarithms."""

import random

import numpy as np
import pytest

from kernels.cpu.batch_affine import BLOCK, element_words, new_scratch, sum_groups
from kernels.cpu.curve import read_only_bytes
from kernels.encoding import decode_points, encode_points
from tests.kernels.points import GROUPS, multiples, multiply, name, negative

each_group = pytest.mark.parametrize("G", GROUPS, ids=name)
UNTOUCHED = 77


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
@pytest.mark.parametrize("size", [BLOCK - 2, BLOCK - 1, BLOCK, BLOCK + 1])
def test_groups_at_the_end_of_a_block(G, size):
    rng = random.Random(size)
    check(G, [[rng.randrange(-3, 4) for _ in range(size)], [1], [2, 3], [4, -4]])
    check(G, [[1], [], [rng.randrange(-3, 4) for _ in range(size)]])


def test_groups_of_several_blocks():
    G = GROUPS[0]
    check(G, [[3, 4], [1] * (3 * BLOCK), [2], [1, -1] * BLOCK, [0] * BLOCK + [7], [5, 6]])
    check(G, [[i % 4] for i in range(2 * BLOCK + 1)])
