"""Sums over tables of multiples are the sums over their points, and the tables are what they say."""

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.cpu import batch_affine64, ifma, lane_batch_affine, lane_bundles, windows
from kernels.cpu import msm as module
from kernels.cpu.msm import msm
from kernels.cpu.tables import Table, make_table
from kernels.encoding import encode_points, ints_to_limbs
from kernels.fields import BLS12_381, BN254
from kernels.parallel import PoolRunner, serial
from kernels.table_shape import ROWS, WINDOW_BITS
from tests.kernels.points import GROUPS, decoded, multiples, multiply, name, negative

each_group = pytest.mark.parametrize("G", GROUPS, ids=name)
VARIANTS = ["off", "auto" if ifma.available() else "emulated"]


@pytest.fixture(autouse=True, scope="module", params=VARIANTS)
def variant(request):
    """Lanes off and on; on, with emulated instructions where the processor lacks them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernels.cpu.lane_tokens.CHOICE", request.param)
        yield request.param


def points_of(G, logarithms):
    """Points logarithms[i]·G, each below 40 in size."""
    known = multiples(G, 40)
    return encode_points(G, [known[i] if i >= 0 else negative(G, known[-i]) for i in logarithms])


def check(G, logarithms, scalars, run=serial):
    table = make_table(G, points_of(G, logarithms), run)
    got = decoded(G, msm(G, table, ints_to_limbs(scalars, 4), run))
    total = sum(i * s for i, s in zip(logarithms, scalars, strict=True))
    assert got == multiply(G, G.generator, total % G.order)


@each_group
def test_rows_are_multiples_and_infinity_stays(G):
    logarithms = [1, 0, -1, 39, 5, 5, 0, -39, 2]
    table = make_table(G, points_of(G, logarithms), serial)
    assert table.points.shape == (ROWS, len(logarithms), *G.point_shape)
    for k, row in enumerate(table.points):
        for logarithm, point in zip(logarithms, row, strict=True):
            expected = multiply(G, G.generator, (logarithm << WINDOW_BITS * k) % G.order)
            assert decoded(G, point) == (expected if logarithm else None)


@each_group
@pytest.mark.parametrize("n", [0, 1, 2, 7, 8, 9, 65])
def test_random_scalars_of_every_size(G, n):
    rng = random.Random(n)
    check(G, [rng.randrange(40) for _ in range(n)], [rng.randrange(G.order) for _ in range(n)])


@each_group
def test_digits_at_their_bounds(G):
    """Scalars whose every digit is the greatest, the smallest, or carries on; and the order's neighbours."""
    half = 1 << WINDOW_BITS - 1
    windows = range(G.order.bit_length() // WINDOW_BITS)
    each = [
        sum(digit << WINDOW_BITS * w for w in windows)
        for digit in (1, half - 1, half, half + 1, 2 * half - 1)
    ]
    scalars = [s % G.order for s in (*each, G.order - 1, G.order - 2, G.order // 2, 1 << 253, 1 << 64)]
    check(G, [1 + i % 39 for i in range(len(scalars))], scalars)
    for scalar in scalars:
        check(G, [3, -7, 0, 3], [scalar] * 4)


@each_group
def test_equal_and_opposite_points_and_infinity_in_one_bucket(G):
    for scalar in (1 << 64, G.order // 3, G.order - 2):
        check(G, [3, 3, 3, 3], [scalar] * 4)
        check(G, [3, -3, 3, 0, -3, 3, 3], [scalar] * 7)
        check(G, [0, 0], [scalar] * 2)


@each_group
def test_a_multiple_of_one_point_is_another_point(G):
    """So that equal and opposite points of different rows meet in a bucket."""
    shift = 1 << WINDOW_BITS
    far = encode_points(G, [multiply(G, G.generator, shift), negative(G, multiply(G, G.generator, shift))])
    points = np.concatenate([points_of(G, [1, -1, 1]), far])
    scalars = [(1 << 100) * shift, 1 << 100, G.order // 5, 1 << 100, (1 << 100) + 5]
    weights = [1, -1, 1, shift, -shift]
    got = decoded(G, msm(G, make_table(G, points, serial), ints_to_limbs(scalars, 4), serial))
    total = sum(w * s for w, s in zip(weights, scalars, strict=True))
    assert got == multiply(G, G.generator, total % G.order)


@each_group
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_mixed_edges(G, data):
    edges = st.sampled_from([0, 1, 2, G.order - 1, G.order - 2, 1 << 64, (1 << 128) - 1])
    pairs = st.tuples(st.integers(-4, 4), edges | st.integers(0, G.order - 1))
    logarithms, scalars = zip(*data.draw(st.lists(pairs, min_size=1, max_size=40)), strict=True)
    check(G, list(logarithms), list(scalars))


@pytest.mark.parametrize("G", [BN254.g1, BLS12_381.g1], ids=name)
def test_ranges_of_points_on_many_threads(G, monkeypatch):
    monkeypatch.setattr(module, "FEWEST_POINTS_A_TASK", 50)
    rng = random.Random(1)
    logarithms, scalars = zip(*((rng.randrange(40), rng.randrange(G.order)) for _ in range(600)), strict=True)
    with ThreadPoolExecutor(2) as pool:
        for threads in (1, 2, 128):
            check(G, logarithms, scalars, PoolRunner(pool, threads))


def test_a_table_needs_no_kernels_of_its_own():
    G = BN254.g1
    points, scalars = points_of(G, range(1, 9)), ints_to_limbs([G.order // (i + 2) for i in range(8)], 4)
    msm(G, points, scalars, serial)
    kernels = (
        batch_affine64.sum_groups,
        lane_batch_affine._sum_bundles,
        lane_bundles._cut,
        windows.read_digits,
    )
    compiled = [len(kernel.signatures) for kernel in kernels]
    msm(G, make_table(G, points, serial), scalars, serial)
    assert [len(kernel.signatures) for kernel in kernels] == compiled


def test_a_misshapen_table_is_refused():
    G = BN254.g1
    points = make_table(G, points_of(G, [1, 2, 3]), serial).points
    scalars = ints_to_limbs(range(3), 4)
    for wrong in (points[:, :, 0], points.astype(np.int64), points[:-1]):
        with pytest.raises(ValueError, match=r"points are|a table has"):
            msm(G, Table(wrong), scalars, serial)
    with pytest.raises(ValueError, match="scalars are"):
        msm(G, Table(points), scalars[:2], serial)
