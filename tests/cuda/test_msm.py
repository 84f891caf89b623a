"""Sums of multiples: points are known multiples of the generator, so one product checks."""

import dataclasses
import random
from itertools import accumulate

import numpy as np
import pytest
from numba import cuda

from kernels.cpu.curve import fold
from kernels.cuda import msm as module
from kernels.cuda import sparse
from kernels.cuda.digits import Base, Windows, smallest_base, sort_by_digit
from kernels.cuda.memory import Workspace
from kernels.cuda.msm import msm
from kernels.cuda.scan import exclusive_scan
from kernels.cuda.weighing import weighted_sums
from kernels.encoding import encode_points, ints_to_limbs
from kernels.fields import BLS12_381, BN254, CURVES
from tests.cuda.conftest import SIMULATED
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
    scaled_rows,
)

each_group = pytest.mark.parametrize("G", GROUPS, ids=name)
SIZES = [0, 1, 9] if SIMULATED else [0, 1, 2, 7, 8, 9, 63, 64, 65, 1000, 20000]


def check(G, logarithms, scalars, window_bits=0, tasks=5, limit=0):
    """Points are logarithms[i]·G, each below 40 in size; a limit of the scalars makes few windows do."""
    table = multiples(G, 40)
    points = encode_points(G, [table[i] if i >= 0 else negative(G, table[-i]) for i in logarithms])
    arrays = cuda.to_device(points), cuda.to_device(ints_to_limbs(scalars, 4))
    bounded = dataclasses.replace(G, order=limit or G.order)
    got = decoded(G, msm(bounded, *arrays, Workspace(), window_bits, tasks))
    total = sum(i * s for i, s in zip(logarithms, scalars, strict=True))
    assert got == multiply(G, G.generator, total % G.order)


@pytest.mark.parametrize("n", [1, 2, 8, 9, 70] if SIMULATED else [1, 4095, 4096, 4097, 1_000_000])
def test_exclusive_scan(n):
    rng = random.Random(n)
    values = [rng.randrange(4000) for _ in range(n)]
    array = cuda.to_device(np.array(values, np.uint32))
    exclusive_scan(array, n, Workspace())
    assert array.copy_to_host().tolist() == [0, *accumulate(values)][:n]


@pytest.mark.parametrize("order", [8, 97, 1 << 20, *(curve.g1.order for curve in CURVES.values())])
def test_the_smallest_base_is_enough_for_its_digits(order):
    for count in range(2, min(order.bit_length(), 40)):
        base = smallest_base(order, count)
        size = 2 * base.half
        assert size == base.factor << base.shift
        assert base.half <= 1 << base.bits - 1 <= max(2 * base.half - 1, 1)
        most = base.half * size ** (count - 1) + sum((base.half - 1) * size**i for i in range(count - 1))
        assert most >= order - 1
        assert size <= 2 << -(-order.bit_length() // count)


@pytest.mark.parametrize("windows_a_set", [1, 3, 99], ids=["own buckets", "some shared", "all shared"])
@pytest.mark.parametrize("factor", [1, 3, 9])
def test_entries_lie_in_the_buckets_of_their_digits(windows_a_set, factor, many):
    if SIMULATED and factor > 1 and windows_a_set != 3:
        pytest.skip("the simulator takes long")
    rng, n = random.Random(3), many + 3
    shift, order = (5, 1 << 20) if SIMULATED else (15, BN254.g1.order)
    shift -= (factor - 1).bit_length()
    base = next(base for base in (Base(factor, shift, k) for k in range(2, 99)) if base.is_enough(order))
    scalars = [0, 1, order - 1, order // 2, order // 2 + 1, *(rng.randrange(order) for _ in range(many - 2))]
    sets = -(-base.count // windows_a_set)
    array = cuda.to_device(ints_to_limbs(scalars, 4))
    arrays = sort_by_digit(array, Windows(base, 0, base.count, sets), Workspace())
    entries, starts = (array.copy_to_host().tolist() for array in arrays)
    sums = [0] * n
    for bucket in range(sets << base.bits - 1):
        for entry in entries[starts[bucket] : starts[bucket + 1]]:
            row, i = divmod(entry >> 1, n)
            window = row * sets + (bucket >> base.bits - 1)
            weight = (bucket % (1 << base.bits - 1) + 1) * (2 * base.half) ** window
            sums[i] += -weight if entry & 1 else weight
    assert sums == scalars


@pytest.mark.parametrize("bits", [2, 3, 4, 7] if SIMULATED else range(2, 18))
def test_buckets_weigh_what_their_digit_is(bits):
    G, windows, rng = BN254.g1, 2, random.Random(bits)
    logarithms = [rng.randrange(40) for _ in range(windows << bits - 1)]
    table = np.stack([scaled_rows(G, point, 1 + i) for i, point in enumerate(multiples(G, 40))])
    buckets = cuda.to_device(table[logarithms].reshape(-1, G.field.limbs))
    sums = weighted_sums(G.field, buckets, bits, windows, Workspace())
    half = 1 << bits - 1
    total = sum((k % half + 1 << bits * (k // half)) * each for k, each in enumerate(logarithms))
    assert decoded(G, fold(G, sums.copy_to_host(), 2, 1)) == multiply(G, G.generator, total % G.order)


@each_group
@pytest.mark.parametrize("n", SIZES)
def test_random_scalars_of_every_size(G, n):
    if SIMULATED and n > 0 and G is not BN254.g1:
        pytest.skip("the simulator takes long")
    rng = random.Random(n)
    logarithms, scalars = (
        zip(*((rng.randrange(40), rng.randrange(G.order)) for _ in range(n)), strict=True) if n else ((), ())
    )
    check(G, logarithms, scalars, 3 if SIMULATED else 0, 3 + n)


@each_group
def test_equal_and_opposite_points_and_infinity_in_one_bucket(G):
    for scalar, limit in ((5, 8), (1, 8)) if SIMULATED else ((5, 8), (1, 0), (5, 0), (G.order - 1, 0)):
        check(G, [3, -3, 3, 0, -3, 3, 3], [scalar] * 7, 3, limit=limit)
        check(G, [0, 0, 0], [scalar] * 3, 3, limit=limit)


def test_buckets_of_many_runs():
    G, n = BN254.g1, 60 if SIMULATED else 30000
    for tasks in (2, 7) if SIMULATED else (2, 7, 1000, 1 << 18):
        check(G, [7 - 13 * (i % 2) for i in range(n)], [i % 3 for i in range(n)], 3, tasks, limit=8)
        check(G, [1 + i % 39 for i in range(n)], [1] * n, 5, tasks, limit=8)


@each_group
@pytest.mark.parametrize("significant", [0, 1, 5], ids=["none significant", "one", "some"])
@pytest.mark.parametrize("bit", [0, 1, None], ids=["zeros", "ones", "both"])
def test_scalars_most_of_which_are_bits(G, significant, bit, many, monkeypatch):
    if SIMULATED and (G is not BN254.g1 or (significant, bit) not in ((1, None), (0, 0))):
        pytest.skip("the simulator takes long")
    monkeypatch.setattr(sparse, "LEAST", 8)
    rng, limit = random.Random(significant), 1 << 9 if SIMULATED else G.order
    scalars = [rng.randrange(2) if bit is None else bit for _ in range(many - significant)]
    scalars += [rng.randrange(2, limit) for _ in range(significant)]
    rng.shuffle(scalars)
    check(G, [rng.randrange(-39, 40) for _ in scalars], scalars, 3 if SIMULATED else 0, limit=limit)


def test_windows_one_after_the_other(monkeypatch):
    rng = random.Random(7)
    n, limit = (5, 1 << 20) if SIMULATED else (2000, BN254.g1.order)
    logarithms, scalars = ([rng.randrange(below) for _ in range(n)] for below in (40, limit))
    monkeypatch.setattr(module, "MOST_ENTRIES", 3 * n)
    check(BN254.g1, logarithms, scalars, 3, limit=limit)


@pytest.mark.parametrize("G", WITH_COFACTOR[:1] if SIMULATED else WITH_COFACTOR, ids=name)
def test_points_outside_the_subgroup(G):
    outside = off_subgroup(G)
    points = encode_points(G, [outside, G.generator, outside])
    scalars = ints_to_limbs([G.order - 1, 3, 2], 4)
    expected = add(G, multiply(G, outside, G.order + 1), multiply(G, G.generator, 3))
    assert decoded(G, msm(G, cuda.to_device(points), cuda.to_device(scalars), Workspace())) == expected


@pytest.mark.parametrize("G", [BN254.g1, BLS12_381.g2], ids=name)
def test_misshapen_inputs_are_refused(G):
    points, scalars = encode_points(G, multiples(G, 3)), ints_to_limbs(range(3), 4)
    for wrong in (scalars[:2], scalars[:, :3].copy(), scalars.astype(np.int64)):
        with pytest.raises(ValueError, match="scalars are"):
            msm(G, cuda.to_device(points), cuda.to_device(wrong), Workspace())
    for wrong in (points[:, 0].copy(), points.reshape(3, -1), points.astype(np.int64)):
        with pytest.raises(ValueError, match="points are"):
            msm(G, cuda.to_device(wrong), cuda.to_device(scalars), Workspace())
