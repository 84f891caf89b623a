"""Eight elements side by side against Python integers; with the IFMA instructions too where they are."""

import math
import random

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from numba.core.errors import TypingError

from kernels.cpu import ifma, lanes
from kernels.cpu.lane_inverse import inverse
from kernels.cpu.lanes import LaneField
from kernels.encoding import ints_to_limbs, limbs_to_ints
from kernels.fields import BLS12_381, BN254, Field

VARIANTS = [True, False] if ifma.available() else [True]
PRIME = [LaneField(f, v) for f in (BN254.fq, BN254.fr, BLS12_381.fr, BLS12_381.fq) for v in VARIANTS]
every_field = pytest.mark.parametrize("F", PRIME, ids=lambda F: F.name)
every_pair = pytest.mark.parametrize(
    "F", [LaneField(f, v) for f in (BN254.fq2, BLS12_381.fq2) for v in VARIANTS], ids=lambda F: F.name
)
MASK = (1 << 52) - 1


def r_of(F):
    return 1 << 52 * F.limbs


def pack(F, values):
    """Eight non-negative integers below R as a group."""
    group = [[value >> 52 * i & MASK for value in values] for i in range(F.limbs)]
    return np.array(group, np.uint64)


def unpack(group):
    """The integers that raw limbs make up, the limbs read as signed."""
    return [sum(int(limb) << 52 * i for i, limb in enumerate(lane)) for lane in group.view(np.int64).T]


def is_normal(group):
    return bool((group <= MASK).all())


def numbers(F, below):
    """Eight integers below a bound, many at the edges of limbs, modulus and bound."""
    p = F.prime.modulus
    edges = [0, 1, MASK, MASK + 1, r_of(F) // 2 - 1, *(k * p + d for k in range(4) for d in (-1, 0, 1))]
    ones = [sum(MASK << 52 * i for i in range(k)) for k in range(1, F.limbs + 1)]
    tops = [(below - 1) >> (52 * i) << (52 * i) for i in range(F.limbs)]
    fitting = [x for x in (*edges, *ones, *tops, below - 1) if 0 <= x < below]
    return st.lists(st.sampled_from(fitting) | st.integers(0, below - 1), min_size=8, max_size=8)


@njit(cache=True)
def arithmetic(F, out, a, b):
    x, y = lanes.load(F, a, 0), lanes.load(F, b, 0)
    lanes.store(F, out, 0, lanes.mul(F, x, y))
    lanes.store(F, out, 1, lanes.add(F, x, y))
    lanes.store(F, out, 2, lanes.sub(F, x, y, 3))
    lanes.store(F, out, 3, lanes.neg(F, y, 3))
    lanes.store(F, out, 4, lanes.double(F, x))
    lanes.store(F, out, 5, lanes.square(F, y))
    lanes.store(F, out, 6, lanes.select(F, np.uint8(0b10010110), x, y))


@njit(cache=True)
def reductions(F, out, a):
    x = lanes.load(F, a, 0)
    lanes.store(F, out, 0, lanes.reduce(F, x))
    lanes.store(F, out, 1, lanes.canonical(F, x))
    return lanes.is_zero(F, x)


@njit(cache=True)
def raw_sums(F, out, a, b, c):
    """c + Σ ±a·b, 32 products with signs in turn, none of it carried, and then carried."""
    x, y, total = lanes.load(F, a, 0), lanes.load(F, b, 0), lanes.load(F, c, 0)
    for _ in range(8):
        product = lanes.mul_raw(F, x, y)
        total = lanes.add_raw(F, lanes.sub_raw(F, total, product, 2), product)
        total = lanes.add_raw(F, lanes.sub_raw(F, total, product, 2), product)
    lanes.store(F, out, 0, product)
    lanes.store(F, out, 1, total)
    lanes.store(F, out, 2, lanes.carry(F, lanes.sub_raw(F, lanes.load(F, c, 0), product, 2)))


@every_field
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_arithmetic(F, data):
    p, r = F.prime.modulus, r_of(F)
    xs, ys = data.draw(numbers(F, 10 * p)), data.draw(numbers(F, 3 * p + 1))
    out = lanes.empty(F, 7)
    arithmetic(F, out, pack(F, xs), pack(F, ys))
    assert is_normal(out)
    product, total, difference, negative, double, square, mixed = (unpack(each) for each in out)
    pairs = list(zip(xs, ys, strict=True))
    for found, wanted in ((product, [x * y for x, y in pairs]), (square, [y * y for y in ys])):
        assert [z * r % p for z in found] == [z % p for z in wanted]
        assert max(found) < 2 * p
    assert total == [x + y for x, y in pairs]
    assert difference == [x - y + 3 * p for x, y in pairs]
    assert negative == [3 * p - y for y in ys]
    assert double == [2 * x for x in xs]
    assert mixed == [x if 0b10010110 >> i & 1 else y for i, (x, y) in enumerate(pairs)]


@every_field
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_products_at_their_bounds(F, data):
    """Operands below i·p and j·p, with i·j·p up to R, and squares of what is below i·p, with i²·p up to R."""
    p, r = F.prime.modulus, r_of(F)
    i = data.draw(st.sampled_from([1, 2, math.isqrt(r // p), r // p]))
    xs, ys = data.draw(numbers(F, i * p)), data.draw(numbers(F, r // (i * p) * p))
    if data.draw(st.booleans()):
        xs, ys = [i * p - 1] * 8, [r // (i * p) * p - 1 - lane for lane in range(8)]
    squared = [y % (math.isqrt(r // p) * p) for y in ys]
    out = lanes.empty(F, 7)
    arithmetic(F, out, pack(F, xs), pack(F, ys))
    products = unpack(out[0])
    assert [z * r % p for z in products] == [x * y % p for x, y in zip(xs, ys, strict=True)]
    arithmetic(F, out, pack(F, xs), pack(F, squared))
    squares = unpack(out[5])
    assert [z * r % p for z in squares] == [y * y % p for y in squared]
    assert max(products + squares) < 2 * p
    assert is_normal(out[[0, 5]])


@every_field
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_reductions(F, data):
    p = F.prime.modulus
    multiples = st.integers(0, r_of(F) // p - 1).map(lambda k: k * p)
    xs = data.draw(numbers(F, r_of(F)))[:5] + data.draw(st.lists(multiples, min_size=3, max_size=3))
    out = lanes.empty(F, 2)
    zeros = reductions(F, out, pack(F, xs))
    assert is_normal(out)
    reduced, canonical = unpack(out[0]), unpack(out[1])
    assert [x % p for x in reduced] == canonical == [x % p for x in xs]
    assert max(reduced) * 2**14 < p * (2**14 + 1)
    assert zeros == sum(1 << i for i, x in enumerate(xs) if x % p == 0)


@every_field
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_raw_sums_need_no_carries(F, data):
    p, r = F.prime.modulus, r_of(F)
    xs, ys, zs = (data.draw(numbers(F, below)) for below in (10 * p, 3 * p, 2 * p))
    out = lanes.empty(F, 3)
    raw_sums(F, out, *(pack(F, each) for each in (xs, ys, zs)))
    products, totals, differences = (unpack(each) for each in out)
    assert [z * r % p for z in products] == [x * y % p for x, y in zip(xs, ys, strict=True)]
    assert totals == [z + 32 * p for z in zs]
    assert differences == [z - product + 2 * p for z, product in zip(zs, products, strict=True)]
    assert is_normal(out[2])


@every_pair
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_pairs(F, data):
    p, r = F.prime.modulus, r_of(F)
    a, b = ([data.draw(numbers(F, 3 * p + 1)) for _ in range(2)] for _ in range(2))
    out = lanes.empty(F, 7)
    arithmetic(F, out, *(np.stack([pack(F, half) for half in each]) for each in (a, b)))
    assert is_normal(out)
    product, total, difference, negative, double, square, _ = (
        [unpack(half) for half in each] for each in out
    )
    for i in range(8):
        (x0, x1), (y0, y1) = ((half[i] for half in each) for each in (a, b))
        found = [half[i] * r % p for half in product]
        assert found == [(x0 * y0 - x1 * y1) % p, (x0 * y1 + x1 * y0) % p]
        assert [half[i] * r % p for half in square] == [(y0 * y0 - y1 * y1) % p, 2 * y0 * y1 % p]
        assert [half[i] for half in total] == [x0 + y0, x1 + y1]
        assert [half[i] for half in difference] == [x0 - y0 + 3 * p, x1 - y1 + 3 * p]
        assert [half[i] for half in negative] == [3 * p - y0, 3 * p - y1]
        assert [half[i] for half in double] == [2 * x0, 2 * x1]
    assert max(max(half) for half in product + square) < 3 * p


@every_pair
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_products_of_pairs_at_their_bounds(F, data):
    """The same with 4·i·j·p up to R."""
    p, r = F.prime.modulus, r_of(F)
    i = data.draw(st.sampled_from([1, 2, math.isqrt(r // (4 * p)), r // (4 * p)]))
    below = i * p, r // (4 * i * p) * p
    a, b = ([data.draw(numbers(F, bound)) for _ in range(2)] for bound in below)
    if data.draw(st.booleans()):
        a, b = ([[data.draw(st.sampled_from([0, bound - 1]))] * 8 for _ in range(2)] for bound in below)
    largest = math.isqrt(r // (4 * p)) * p
    squared = [[x % largest for x in half] for half in b]
    out = lanes.empty(F, 7)
    for right, operation in ((b, 0), (squared, 5)):
        left = a if operation == 0 else squared
        arithmetic(F, out, *(np.stack([pack(F, half) for half in each]) for each in (a, right)))
        found = [unpack(half) for half in out[operation]]
        wanted = [
            ((x0 * y0 - x1 * y1) % p, (x0 * y1 + x1 * y0) % p)
            for x0, x1, y0, y1 in zip(*left, *right, strict=True)
        ]
        assert [(z0 * r % p, z1 * r % p) for z0, z1 in zip(*found, strict=True)] == wanted
        assert max(map(max, found)) < 3 * p
        assert is_normal(out[operation])


@every_pair
def test_a_pair_is_zero_if_both_halves_are(F):
    p = F.prime.modulus
    halves = [0, p, 1, 0, p - 1, 5 * p, 0, p + 1], [3 * p, 0, 0, 1, p, 0, p - 1, 2]
    out = np.zeros((2, 2, F.limbs, 8), np.uint64)
    assert reductions(F, out, np.stack([pack(F, half) for half in halves])) == 0b00100011
    assert unpack(out[1, 0]) == [x % p for x in halves[0]]


@njit(cache=True)
def move_rows(F, out, a, indices):
    lanes.store_rows(F, out, 16, 1, lanes.load_rows(F, a, 1, 2))
    lanes.scatter_rows(F, out, indices, 1, lanes.gather_rows(F, a, indices, 0))
    lanes.store_rows(F, out, 24, 1, lanes.broadcast_row(F, a, 5))


@njit(cache=True)
def shifted(F, out, a):
    lanes.store(F, out, 0, lanes.load_rows_shifted(F, a, 8, 1))
    lanes.store(F, out, 1, lanes.load_rows(F, a, 8, 1))


@pytest.mark.parametrize("field", [BN254.fr, BLS12_381.fq, BN254.fq2, BLS12_381.fq2], ids=lambda f: f.name)
@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint32])
def test_rows(field, kind):
    F = LaneField(field, VARIANTS[-1])
    generator = np.random.default_rng(F.words)
    a = generator.integers(0, 2**64, (16, F.words), np.uint64, endpoint=False)
    out = np.zeros((32, F.words), np.uint64)
    indices = np.array([3, 15, 0, 9, 9, 2, 7, 11, 14], kind)
    move_rows(F, out, a, indices)
    expected = np.zeros_like(out)
    expected[16:24] = a[1::2]
    expected[indices[1:]] = a[indices[:8]]
    expected[24:] = a[5]
    assert (out == expected).all()


@every_field
def test_limbs_of_rows(F):
    generator = random.Random(1)
    values = [0, F.prime.modulus - 1, *(generator.randrange(F.prime.modulus) for _ in range(6))]
    rows = ints_to_limbs([0] * 8 + values, F.prime.limbs)
    assert limbs_to_ints(rows)[8:] == values
    out = lanes.empty(F, 2)
    shifted(F, out, rows)
    assert unpack(out[0]) == [x * r_of(F) // 2 ** (64 * F.prime.limbs) for x in values]
    assert unpack(out[1]) == values
    assert is_normal(out)


@njit(cache=True)
def invert(F, out, a, rows):
    lanes.store(F, out, 0, inverse(F, lanes.load(F, a, 0), rows))


@every_field
def test_inverse(F):
    p, r, generator = F.prime.modulus, r_of(F), random.Random(2)
    xs = [0, 1, p - 1, p, 2 * p, 2 * p + 1, *(generator.randrange(2 * p) for _ in range(2))]
    out = lanes.empty(F, 1)
    invert(F, out, pack(F, xs), np.empty((8, F.words), np.uint64))
    assert [x % p for x in unpack(out[0])] == [pow(x, -1, p) * r * r % p if x % p else 0 for x in xs]


@every_field
def test_inverse_of_zeros_alone_and_at_either_end(F):
    p, r = F.prime.modulus, r_of(F)
    out = lanes.empty(F, 1)
    for xs in ([0] * 8, [p] * 8, [0, *[3] * 7], [*[3] * 7, 0], [0, 3, 0, 0, 5, 0, 7, 0]):
        invert(F, out, pack(F, xs), np.empty((8, F.words), np.uint64))
        assert [x % p for x in unpack(out[0])] == [pow(x, -1, p) * r * r % p if x % p else 0 for x in xs]


@every_pair
def test_inverse_of_pairs(F):
    p, r = F.prime.modulus, r_of(F)
    halves = [3, 0, 0, 1, p, 0, p - 1, 2], [4, 0, 1, 0, 5, p, 2 * p, 7]
    out = lanes.empty(F, 1)
    invert(F, out, np.stack([pack(F, half) for half in halves]), np.empty((8, 2, F.prime.limbs), np.uint64))
    for x, y, u, v in zip(*halves, *(unpack(half) for half in out[0]), strict=True):
        factor = r * r * pow(x * x + y * y, -1, p) if (x * x + y * y) % p else 0
        assert (u % p, v % p) == (x * factor % p, -y * factor % p)


def test_which_fields_have_lanes(monkeypatch):
    small = Field("F97", 97, 1)
    with pytest.raises(ValueError, match=r"F97 has no lanes"):
        LaneField(small, True)
    found = {}
    for choice in ("auto", "off", "emulated"):
        monkeypatch.setattr("kernels.cpu.lane_tokens.CHOICE", choice)
        assert lanes.lanes_of(small) is None
        found[choice] = lanes.lanes_of(BN254.fr)
    assert found["auto"] == (LaneField(BN254.fr, False) if ifma.available() else None)
    assert found["off"] is None
    assert found["emulated"] == LaneField(BN254.fr, True)
    monkeypatch.setattr("kernels.cpu.lane_tokens.CHOICE", "no")
    with pytest.raises(ValueError, match="CUZK_LANES is 'no', expected auto, off or emulated"):
        lanes.lanes_of(BN254.fr)


@njit
def variable_multiple(F, a, k):
    lanes.store(F, a, 0, lanes.neg(F, lanes.load(F, a, 0), k))


def test_a_multiple_must_be_known_when_compiling():
    with pytest.raises(TypingError, match="the multiple of p must be a literal integer"):
        variable_multiple(PRIME[0], lanes.empty(PRIME[0], 1), 2)


def test_compiled_kernels_are_told_apart():
    """numba's cache goes by the names of types."""
    variants = [LaneField(field, v) for field in (BN254.fr, BN254.fq, BN254.fq2) for v in (True, False)]
    assert len({str(numba.typeof(F)) for F in variants}) == len(variants)


def test_arrays_of_lanes_lie_on_cache_lines():
    for F in PRIME:
        array = lanes.empty(F, 3)
        assert array.shape == (3, F.limbs, 8)
        assert array.ctypes.data % 64 == 0
