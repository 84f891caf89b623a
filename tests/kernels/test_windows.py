"""Signed digits and their sorting against Python integers."""

import random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numba import njit

from kernels.cpu.curve import read_only_bytes
from kernels.cpu.windows import (
    SCALAR_LIMBS,
    SCALARS_AT_A_TIME,
    count_digits,
    load_scalars,
    read_digits,
    signed_digit,
    sort_by_digits,
    window_bias,
    window_count,
)
from kernels.encoding import ints_to_limbs, limbs_to_ints
from kernels.fields import BLS12_381, BN254

ORDERS = [BN254.fr.modulus, BLS12_381.fr.modulus]
WORDS = [1 << 64, 1 << 128, 1 << 192, 1 << 253]
LIMITS = [(2, 1), (1 << 64, 2), *((order, SCALAR_LIMBS) for order in ORDERS)]


@njit
def digits(biased, window_bits, count):
    return [signed_digit(biased, 1, window_bits, count, window) for window in range(count)]


def biased(values, bits, count, limbs=SCALAR_LIMBS):
    return ints_to_limbs([value + window_bias(bits, count) for value in values], limbs)


@pytest.mark.parametrize(("limit", "limbs"), LIMITS)
@given(data=st.data(), bits=st.integers(2, 16))
@settings(max_examples=100, deadline=None)
def test_digits_make_up_the_scalar(limit, limbs, data, bits):
    edges = [
        edge for edge in (0, 1, limit - 1, *(word - i for word in WORDS for i in (0, 1))) if edge < limit
    ]
    scalar = data.draw(st.sampled_from(edges) | st.integers(0, limit - 1))
    count = window_count(limit, bits)
    found = digits(biased([0, scalar], bits, count, limbs), bits, count)
    half = 1 << (bits - 1)
    assert all(-half <= digit < half for digit in found[:-1])
    assert 0 <= found[-1] <= half
    assert sum(int(digit) << bits * window for window, digit in enumerate(found)) == scalar
    if scalar < half:
        assert not any(found[1:])  # small scalars cost one addition


@pytest.mark.parametrize(("limit", "limbs"), LIMITS)
def test_no_window_too_many(limit, limbs):
    for bits in range(2, 17):
        count = window_count(limit, bits)
        assert (limit - 1 + window_bias(bits, count)).bit_length() <= 64 * limbs
        assert count == 1 or (limit - 1) >> bits * (count - 1) - 1  # one fewer would not hold it


@pytest.mark.parametrize("order", ORDERS)
@given(data=st.data())
@example(data=None)
@settings(max_examples=50, deadline=None)
def test_scalars_are_loaded_with_their_sign_and_bias(order, data):
    edges = [0, 1, order - 1, order - (1 << 64), (1 << 64) - 1, (1 << 128) - 1, (1 << 192) - 1]
    scalars = edges if data is None else data.draw(st.lists(st.integers(0, order - 1), min_size=1))
    codes = np.array([2 * i + sign for i in range(len(scalars)) for sign in (0, 1)], np.uint32)
    bias = window_bias(13, window_count(order, 13))
    out = np.zeros((len(codes), SCALAR_LIMBS), np.uint64)
    limbs = ints_to_limbs([order, bias], SCALAR_LIMBS)
    load_scalars(
        out, codes, read_only_bytes(ints_to_limbs(scalars, SCALAR_LIMBS)), limbs[0], limbs[1], 0, len(codes)
    )
    assert limbs_to_ints(out) == [each + bias for scalar in scalars for each in (scalar, order - scalar)]


@pytest.mark.parametrize(("limit", "limbs"), LIMITS)
@pytest.mark.parametrize("bits", [2, 5, 13, 16])
@pytest.mark.parametrize("n", [1, SCALARS_AT_A_TIME, SCALARS_AT_A_TIME + 1])
def test_digits_are_read_window_by_window(limit, limbs, bits, n):
    rng, count = random.Random(bits), window_count(limit, bits)
    scalars = [rng.choice([0, limit - 1, rng.randrange(limit)]) for _ in range(n)]
    [order] = ints_to_limbs([ORDERS[0]], SCALAR_LIMBS)
    [bias] = ints_to_limbs([window_bias(bits, count)], limbs)
    found = np.zeros((count, n), np.uint16)
    codes = np.arange(0, 2 * n, 2, dtype=np.uint32)
    read_digits(found, codes, read_only_bytes(ints_to_limbs(scalars, 4)), order, bias, bits, n // 2, n)
    assert not found[:, : n // 2].any()
    numbers = [row.astype(object) for row in (*found[:-1].astype(np.int16), found[-1])]
    for i in range(n // 2, n):
        assert sum(row[i] << bits * window for window, row in enumerate(numbers)) == scalars[i]


@pytest.mark.parametrize("half", [2, 4, 128])
@pytest.mark.parametrize("highest", [0, 2, 9])
def test_points_are_sorted_by_the_size_of_their_digit(half, highest):
    rng, n = random.Random(half), 50
    signed = [[rng.randrange(0 if row == highest else -half, half + 1) for _ in range(n)] for row in range(3)]
    digits = np.array(signed).astype(np.uint16)
    codes = np.array([2 * i + i % 3 // 2 for i in range(n)], np.uint32)
    counts, found = np.zeros(3 * half + 1, np.int32), np.zeros(3 * n, np.uint32)
    count_digits(digits, highest, half, 5, 45, counts)
    starts = np.cumsum(counts, dtype=np.int64)
    before = starts.copy()
    sort_by_digits(digits, highest, codes, 5, 45, starts, found)
    assert (starts == before).all()
    expected = [
        [codes[i] ^ (row[i] < 0) for i in range(5, 45) if abs(row[i]) == size]
        for row in signed
        for size in range(1, half + 1)
    ]
    assert [found[starts[k] : starts[k + 1]].tolist() for k in range(3 * half)] == expected
