"""Sums of multiples against py_ecc: points are known multiples of the generator, so one product checks."""

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.cpu import batch_affine64, ifma, lane_batch_affine
from kernels.cpu import msm as module
from kernels.cpu.lane_bundles import MOST_POINTS
from kernels.cpu.lanes import lanes_of
from kernels.cpu.msm import msm
from kernels.encoding import encode_points, ints_to_limbs
from kernels.fields import BLS12_381, BN254
from kernels.parallel import PoolRunner, serial
from tests.kernels.points import (
    GROUPS,
    WITH_COFACTOR,
    add,
    decoded,
    multiples,
    multiply,
    name,
    negative,
    off_subgroup,
)

each_group = pytest.mark.parametrize("G", GROUPS, ids=name)
SIZES = [0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65]
VARIANTS = ["off", "auto" if ifma.available() else "emulated"]


@pytest.fixture(autouse=True, scope="module", params=VARIANTS)
def variant(request):
    """Lanes off and on; on, with emulated instructions where the processor lacks them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernels.cpu.lane_tokens.CHOICE", request.param)
        yield request.param


def check(G, logarithms, scalars, run=serial):
    """Points are logarithms[i]·G, each below 40 in size."""
    table = multiples(G, 40)
    points = encode_points(G, [table[i] if i >= 0 else negative(G, table[-i]) for i in logarithms])
    got = decoded(G, msm(G, points, ints_to_limbs(scalars, 4), run))
    total = sum(i * s for i, s in zip(logarithms, scalars, strict=True))
    assert got == multiply(G, G.generator, total % G.order)


@each_group
@pytest.mark.parametrize("n", SIZES)
def test_random_scalars_of_every_size(G, n):
    rng = random.Random(n)
    check(G, [rng.randrange(40) for _ in range(n)], [rng.randrange(G.order) for _ in range(n)])


@pytest.mark.parametrize("G", [BN254.g1, BLS12_381.g1], ids=name)
@pytest.mark.parametrize("n", [1023, 1024, 1025, 5000])
def test_wide_windows(G, n):
    rng = random.Random(n)
    check(G, [rng.randrange(40) for _ in range(n)], [rng.randrange(G.order) for _ in range(n)])


@each_group
@pytest.mark.parametrize("n", [1, 2, 9, 64])
def test_all_scalars_equal(G, n):
    for scalar in (0, 1, 2, G.order - 1, G.order - 2, (G.order - 1) // 2, 1 << 253):
        check(G, [1 + i % 39 for i in range(n)], [scalar] * n)


@each_group
def test_equal_and_opposite_points_and_infinity_in_one_bucket(G):
    for scalar in (1, 5, G.order - 1):
        check(G, [3, 3, 3, 3], [scalar] * 4)
        check(G, [3, -3], [scalar] * 2)
        check(G, [3, -3, 3, 0, -3, 3, 3], [scalar] * 7)
        check(G, [0, 0, 0], [scalar] * 3)
    check(G, [7, 7], [1, G.order - 1])


@each_group
@pytest.mark.parametrize("n", [1, 7, 8, 9, 64])
def test_every_point_and_every_scalar_equal(G, n):
    for scalar in (1, 2, 1 << 63, G.order // 3, G.order - 1):
        check(G, [5] * n, [scalar] * n)
        check(G, [5 - 10 * (i % 2) for i in range(n)], [scalar] * n)


@each_group
def test_scalars_of_each_kind_alone_and_together(G):
    rng = random.Random(5)
    kinds = [[0], [1], [G.order - 1], [0, 1], [1, G.order - 1], [2, (1 << 64) - 1], [1 << 64, G.order - 2]]
    kinds += [[G.order - (1 << 64) + 1, G.order - (1 << 64), G.order - (1 << 64) - 1, G.order - (1 << 63)]]
    for kind in [*kinds, [scalar for each in kinds for scalar in each]]:
        check(G, [rng.randrange(-39, 40) for _ in range(70)], [rng.choice(kind) for _ in range(70)])


@each_group
def test_a_few_long_scalars_among_many_bits(G):
    rng = random.Random(6)
    scalars = [rng.randrange(2) for _ in range(300)]
    scalars[7], scalars[90], scalars[299] = G.order - 5, 1 << 200, 1 << 40
    check(G, [rng.choice([0, 0, 3, -4, 38]) for _ in range(300)], scalars)


@pytest.mark.parametrize("G", [BN254.g1, BLS12_381.g1], ids=name)
@pytest.mark.parametrize("scalar", [1, 12345, BN254.g1.order // 7])
def test_buckets_larger_than_a_block(G, scalar):
    n = 2 * batch_affine64.BLOCK + 3 if lanes_of(G.field) is None else 8 * MOST_POINTS + 3
    check(G, [1 + i % 39 for i in range(n)], [scalar] * n)
    check(G, [7] * n, [scalar] * n)
    check(G, [7 - 14 * (i % 2) for i in range(n)], [scalar] * n)


@each_group
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_mixed_edges(G, data):
    edges = st.sampled_from([0, 1, 2, G.order - 1, G.order - 2, 1 << 64, (1 << 128) - 1])
    pairs = st.tuples(st.integers(-4, 4), edges | st.integers(0, G.order - 1))
    logarithms, scalars = zip(*data.draw(st.lists(pairs, min_size=1, max_size=40)), strict=True)
    check(G, list(logarithms), list(scalars))


@pytest.mark.parametrize("G", WITH_COFACTOR, ids=name)
def test_points_outside_the_subgroup(G):
    outside = off_subgroup(G)
    points = encode_points(G, [outside, G.generator, outside])
    scalars = [G.order - 1, 3, 2]
    expected = add(G, multiply(G, outside, G.order + 1), multiply(G, G.generator, 3))
    assert decoded(G, msm(G, points, ints_to_limbs(scalars, 4), serial)) == expected


def test_point_with_x_zero_is_no_infinity():
    G = BLS12_381.g1
    points = encode_points(G, [(0, 2), None, (0, 2), G.generator])
    for scalars in ([1, 1, 0, 0], [1, 1, 1, 0], [5, 3, 0, 2]):
        expected = add(G, multiply(G, (0, 2), scalars[0] + scalars[2]), multiply(G, G.generator, scalars[3]))
        assert decoded(G, msm(G, points, ints_to_limbs(scalars, 4), serial)) == expected


@each_group
def test_ranges_of_points_on_many_threads(G, monkeypatch):
    monkeypatch.setattr(module, "FEWEST_POINTS_A_TASK", 50)
    rng = random.Random(1)
    logarithms, scalars = zip(*((rng.randrange(40), rng.randrange(G.order)) for _ in range(333)), strict=True)
    with ThreadPoolExecutor(2) as pool:
        for threads in (1, 2, 128, 1000):  # 1000 threads: ranges as small as allowed
            check(G, logarithms, scalars, PoolRunner(pool, threads))
    monkeypatch.setattr(module, "MOST_POINTS_A_TASK", 100)
    check(G, logarithms, scalars)


def test_read_only_and_unaligned_inputs_share_one_compiled_kernel():
    G = BN254.g1
    points, scalars = encode_points(G, multiples(G, 9)), ints_to_limbs(range(9), 4)
    expected = msm(G, points, scalars, serial)
    kernels = batch_affine64.sum_groups, lane_batch_affine._sum_bundles
    compiled = [len(kernel.signatures) for kernel in kernels]
    shifted = [np.frombuffer(b"12" + a.tobytes(), np.uint8)[2:].view(np.uint64) for a in (points, scalars)]
    got = msm(G, shifted[0].reshape(points.shape), shifted[1].reshape(scalars.shape), serial)
    assert np.array_equal(got, expected)
    assert [len(kernel.signatures) for kernel in kernels] == compiled


@pytest.mark.parametrize("G", [BN254.g1, BLS12_381.g2], ids=name)
def test_misshapen_inputs_are_refused(G):
    points, scalars = encode_points(G, multiples(G, 3)), ints_to_limbs(range(3), 4)
    for wrong in (scalars[:2], scalars[:, :3], scalars.astype(np.int64)):
        with pytest.raises(ValueError, match="scalars are"):
            msm(G, points, wrong, serial)
    for wrong in (points[:, 0], points.reshape(3, -1), points.astype(np.int64)):
        with pytest.raises(ValueError, match="points are"):
            msm(G, wrong, scalars, serial)
