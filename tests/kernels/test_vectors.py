"""Vector kernels against Python integers: every element of the range, and none outside it."""

import random

import numpy as np
import pytest

from kernels.cpu import ifma, vectors
from kernels.encoding import from_montgomery_ints, ints_to_limbs, limbs_to_ints, to_montgomery_limbs
from kernels.fields import BLS12_381, BN254, Field

# The fields that provers convert and scale in; the extension shows that elements may be pairs.
FIELDS = [BN254.fr, BLS12_381.fr, BLS12_381.fq]
every_field = pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
START, STOP = 1, 18  # of twenty elements: two groups of eight and one element
VARIANTS = ["off", "auto" if ifma.available() else "emulated"]


@pytest.fixture(autouse=True, scope="module", params=VARIANTS)
def variant(request):
    """Lanes off and on; on, with emulated instructions where the processor lacks them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernels.cpu.lane_tokens.CHOICE", request.param)
        yield


def twenty(field: Field) -> list[int]:
    p = field.modulus
    generator = random.Random(field.name)
    return [0, 1, p - 1, 2**64 - 1, p // 2, *(generator.randrange(p) for _ in range(13)), p - 1, 0]


def outcome(field, kernel, *vectors_of_ints):
    """kernel(field, out, *vectors, START, STOP) as integers, with a mark in what must stay untouched."""
    arrays = [to_montgomery_limbs(field, each) for each in vectors_of_ints]
    out = to_montgomery_limbs(field, [77] * len(vectors_of_ints[0]))
    kernel(field, out, *arrays, START, STOP)
    return from_montgomery_ints(field, out)


def within(values):
    return [77, *values[START:STOP], *[77] * (len(values) - STOP)]


@every_field
def test_products(field):
    p, a, b, c = field.modulus, twenty(field), twenty(field)[::-1], [3, field.modulus - 1, 0, 1, 2] * 4
    products = [x * y % p for x, y in zip(a, b, strict=True)]
    assert outcome(field, vectors.multiply, a, b) == within(products)
    differences = [(x - y) % p for x, y in zip(products, c, strict=True)]
    assert outcome(field, vectors.multiply_subtract, a, b, c) == within(differences)


@every_field
def test_output_may_be_an_input(field):
    values = twenty(field)
    a = to_montgomery_limbs(field, values)
    vectors.multiply_subtract(field, a, a, a, a, 0, 20)
    assert from_montgomery_ints(field, a) == [(x * x - x) % field.modulus for x in values]


@every_field
def test_montgomery_form(field):
    values = twenty(field)
    canonical = ints_to_limbs(values, field.limbs)
    out = np.zeros_like(canonical)
    vectors.to_montgomery(field, out, canonical, START, STOP)
    expected = np.zeros_like(canonical)
    expected[START:STOP] = to_montgomery_limbs(field, values)[START:STOP]
    assert (out == expected).all()
    vectors.from_montgomery(field, out, out, START, STOP)
    assert limbs_to_ints(out) == [0, *values[START:STOP], 0, 0]


@every_field
def test_first_not_below_modulus(field):
    p, largest = field.modulus, 2 ** (64 * field.limbs) - 1
    for wrong in (p, p + 1, largest):
        a = ints_to_limbs([p - 1, 0, wrong, 5, largest], field.limbs)
        assert vectors.first_not_below_modulus(field, a, 0, 5) == 2
        assert vectors.first_not_below_modulus(field, a, 3, 5) == 4
        assert vectors.first_not_below_modulus(field, a, 0, 2) == -1
        assert vectors.first_not_below_modulus(field, a, 2, 2) == -1


@every_field
def test_scaling(field):
    p, values = field.modulus, twenty(field)
    for first, ratio in ((1, 1), (p - 1, 7), (5, 0), (0, 3)):
        factor, step = to_montgomery_limbs(field, [first]), to_montgomery_limbs(field, [ratio])
        a = to_montgomery_limbs(field, values)
        vectors.scale(field, a, a, factor, START, STOP)
        scaled = [x * first % p if START <= i < STOP else x for i, x in enumerate(values)]
        assert from_montgomery_ints(field, a) == scaled
        a = to_montgomery_limbs(field, values)
        for start, stop in ((0, 2), (2, 19), (19, 20), (20, 20)):  # chunks know their place
            vectors.scale_by_powers(field, a, a, factor, step, start, stop)
        powers = [x * first * pow(ratio, i, p) % p for i, x in enumerate(values)]
        assert from_montgomery_ints(field, a) == powers
