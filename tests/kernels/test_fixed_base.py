"""Multiples of the generators against py_ecc."""

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from kernels.cpu import fixed_base, ifma
from kernels.cpu.fixed_base import FEWEST_SCALARS_A_TASK, multiply_generator
from kernels.encoding import decode_points, ints_to_limbs
from kernels.parallel import PoolRunner, serial
from tests.kernels.points import GROUPS, multiples, multiply, name

each_group = pytest.mark.parametrize("G", GROUPS, ids=name)
VARIANTS = ["off", "auto" if ifma.available() else "emulated"]


@pytest.fixture(autouse=True, scope="module", params=VARIANTS)
def variant(request):
    """Lanes off and on; on, with emulated instructions where the processor lacks them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernels.cpu.lane_tokens.CHOICE", request.param)
        fixed_base._table.cache_clear()
        yield


@each_group
@pytest.mark.parametrize("n", [0, 1, 2, 7, 8, 9])
def test_edge_and_random_scalars(G, n):
    rng, r = random.Random(n), G.order
    edges = [r - 1, 0, 1, r - 2, 2, 1 << 253, (1 << 128) - 1, 0, r // 2]
    for scalars in (edges[:n], [rng.randrange(r) for _ in range(n)]):
        points = multiply_generator(G, ints_to_limbs(scalars, 4), serial)
        assert points.shape == (n, *G.point_shape)
        assert decode_points(G, points) == [multiply(G, G.generator, s) for s in scalars]


@each_group
def test_every_window_width(G):
    rng = random.Random(1)
    scalars = [0, 1, G.order - 1, rng.randrange(G.order)]
    expected = [multiply(G, G.generator, s) for s in scalars]
    for bits in (2, 3, 5, 8):
        assert decode_points(G, fixed_base._multiples(G, bits, ints_to_limbs(scalars, 4), serial)) == expected


@each_group
@pytest.mark.parametrize("n", [FEWEST_SCALARS_A_TASK + i for i in (-1, 0, 1, 257)])
def test_tasks_and_threads(G, n):
    """All scalars are small or minus that, so that a table of py_ecc's sums checks each."""
    scalars = [(i % 40 if i % 3 else -(i % 40)) % G.order for i in range(n)]
    with ThreadPoolExecutor(2) as pool:
        points = multiply_generator(G, ints_to_limbs(scalars, 4), PoolRunner(pool, 2))
    table = multiples(G, 40)
    small = {i % G.order: point for i, point in enumerate(table)}
    for scalar, point in zip(scalars, decode_points(G, points), strict=True):
        if scalar in small:
            assert point == small[scalar]
        else:
            x, y = small[G.order - scalar]
            assert point[0] == x
            assert point[1] != y


def test_all_scalars_equal():
    G = GROUPS[0]
    points = multiply_generator(G, ints_to_limbs([5] * 300, 4), serial)
    assert (points == points[0]).all()
    assert decode_points(G, points[:1]) == [multiples(G, 40)[5]]


def test_misshapen_scalars_are_refused():
    with pytest.raises(ValueError, match="scalars are"):
        multiply_generator(GROUPS[0], np.zeros((3, 6), np.uint64), serial)
