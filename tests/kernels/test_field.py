"""Field operations on registers against Python integers, for both fields' kinds and both products.

Words are checked as they are, so that limbs of all ones and all zeros, where carries go wrong, can be aimed
at: with x·R for the words of x, a Montgomery product of words a and b is a·b/R.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from numba.core.errors import TypingError

from kernels.cpu import adx, limbs64
from kernels.cpu import field as f
from kernels.encoding import ints_to_limbs, limbs_to_ints
from kernels.fields import BN254, CURVES, Field, QuadraticField

OPERATIONS = 13
TINY = Field("F97", 97, 1)
PRIME = [TINY, *(field for curve in CURVES.values() for field in (curve.fq, curve.fr))]
QUADRATIC = [curve.fq2 for curve in CURVES.values()]


@njit(nogil=True, cache=True)
def operate(F, out, a, b):
    for i in range(a.shape[0]):
        x, y, k = f.load(F, a, i), f.load(F, b, i), 13 * i
        f.store(F, out, k, f.add(F, x, y))
        f.store(F, out, k + 1, f.sub(F, x, y))
        f.store(F, out, k + 2, f.neg(F, x))
        f.store(F, out, k + 3, f.double(F, x))
        f.store(F, out, k + 4, f.mul(F, x, y))
        f.store(F, out, k + 5, f.square(F, x))
        f.store(F, out, k + 6, f.inverse(F, x))
        f.store(F, out, k + 7, f.to_montgomery(F, x))
        f.store(F, out, k + 8, f.from_montgomery(F, x))
        f.store(F, out, k + 9, f.one(F) if f.is_zero(F, x) else f.zero(F))
        f.store(F, out, k + 10, f.one(F) if f.equal(F, x, y) else f.zero(F))
        f.store(F, out, k + 11, f.one(F) if f.is_reduced(F, x) else f.zero(F))
        f.store(F, out, k + 12, f.mul(F, f.inverse(F, x), x))


def expected(field, a, b):
    """The same on integers; over the quadratic field on pairs."""
    if isinstance(field, Field):
        p, r = field.modulus, field.montgomery_one
        over_r = pow(r, -1, p)
        inverse = pow(a, -1, p) * r * r % p if a else 0
        flags = [r if truth else 0 for truth in (a == 0, a == b, True, a != 0)]
        values = [a + b, a - b, -a, 2 * a, a * b * over_r, a * a * over_r, inverse, a * r, a * over_r, *flags]
        return [value % p for value in values]
    p, r = field.base.modulus, field.base.montgomery_one
    over_r = pow(r, -1, p)

    def times(x, y, factor):
        return (x[0] * y[0] - x[1] * y[1]) * factor % p, (x[0] * y[1] + x[1] * y[0]) * factor % p

    def each(combine):
        return tuple(combine(x, y) % p for x, y in zip(a, b, strict=True))

    norm = pow(a[0] ** 2 + a[1] ** 2, -1, p) if a != (0, 0) else 0
    inverse = times((a[0], -a[1]), (norm, 0), r * r)
    flags = [(r if truth else 0, 0) for truth in (a == (0, 0), a == b, True, a != (0, 0))]
    sums = [
        each(lambda x, y: x + y),
        each(lambda x, y: x - y),
        each(lambda x, _: -x),
        each(lambda x, _: 2 * x),
    ]
    products = [times(a, b, over_r), times(a, a, over_r), inverse]
    return [*sums, *products, each(lambda x, _: x * r), each(lambda x, _: x * over_r), *flags]


def check(kernel, field, pairs):
    base = field if isinstance(field, Field) else field.base
    shape = (-1, base.limbs) if base is field else (-1, 2, base.limbs)

    def encode(elements):
        flat = elements if base is field else [part for element in elements for part in element]
        return ints_to_limbs(flat, base.limbs).reshape(shape)

    a, b = encode([a for a, _ in pairs]), encode([b for _, b in pairs])
    out = encode([0 if base is field else (0, 0)] * (OPERATIONS * len(pairs)))
    kernel(field, out, a, b)
    wanted = encode([value for a, b in pairs for value in expected(field, a, b)])
    wrong = np.flatnonzero((out != wanted).reshape(len(out), -1).any(axis=1))
    assert not len(wrong), f"operation {wrong[0] % OPERATIONS} of {pairs[wrong[0] // OPERATIONS]}"


def words(field):
    """Numbers below the modulus with limbs at their ends, and near the modulus and its half."""
    p, n = field.modulus, field.limbs
    limb = st.sampled_from([0, 1, 2**63, 2**64 - 1]) | st.integers(0, 2**64 - 1)
    limbs = st.lists(limb, min_size=n, max_size=n).map(
        lambda each: sum(x << 64 * i for i, x in enumerate(each)) % p
    )
    near = st.sampled_from(
        [0, 1, p - 1, p - 2, p // 2, p // 2 + 1, field.montgomery_one, p - field.montgomery_one]
    )
    return limbs | near


def elements(field):
    return words(field) if isinstance(field, Field) else st.tuples(words(field.base), words(field.base))


@pytest.mark.parametrize("field", PRIME + QUADRATIC, ids=lambda field: field.name)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_operations(field, data):
    pair = st.tuples(elements(field), elements(field))
    check(operate, field, data.draw(st.lists(pair, min_size=1, max_size=30)))


@pytest.mark.parametrize("field", PRIME + QUADRATIC, ids=lambda field: field.name)
def test_edges_with_each_other(field):
    base = field if isinstance(field, Field) else field.base
    p, r = base.modulus, base.montgomery_one
    edges = [0, 1, 2, p - 1, p - 2, p // 2, p // 2 + 1, r, p - r, r * r % p, (2**64 - 1) % p, 2**64 % p]
    if base is not field:
        edges = [(x, y) for x in (0, 1, p - 1, r, p - r) for y in (0, 1, p - 1, r)]
    check(operate, field, [(a, b) for a in edges for b in edges])


def test_every_pair_of_a_tiny_field():
    check(operate, TINY, [(a, b) for a in range(97) for b in range(97)])


@pytest.mark.skipif(not adx.available(), reason="the portable product is the only one on this processor")
@pytest.mark.parametrize("field", [TINY, CURVES["bls12381"].fr, *QUADRATIC], ids=lambda field: field.name)
def test_portable_product(field, monkeypatch):
    """What processors without ADX run."""
    monkeypatch.setattr(limbs64, "USE_ADX", False)
    base = field if isinstance(field, Field) else field.base
    p, r = base.modulus, base.montgomery_one
    edges = [0, 1, p - 1, p // 2, r, p - r, (2**128 - 1) % p, 2**200 * 12345 % p]
    if base is not field:
        edges = [(x, y) for x in edges[:5] for y in edges[2:]]
    portable = njit(nogil=True)(operate.py_func)
    check(portable, field, [(a, b) for a in edges for b in edges])
    llvm = "".join(portable.inspect_llvm().values())
    assert "cuzk.portable" in llvm
    assert "mulx" not in llvm


@njit(nogil=True, cache=True)
def reduced(F, a, i):
    return f.is_reduced(F, f.load(F, a, i))


@pytest.mark.parametrize("field", PRIME, ids=lambda field: field.name)
def test_is_reduced(field):
    p, top = field.modulus, 2 ** (64 * field.limbs) - 1
    values = ints_to_limbs([0, p - 1, p, p + 1, top], field.limbs)
    assert [reduced(field, values, i) for i in range(5)] == [True, True, False, False, False]


def test_is_reduced_looks_at_both_halves():
    p = BN254.fq.modulus
    values = ints_to_limbs([p - 1, p - 1, p, 0, 0, p], 4).reshape(3, 2, 4)
    assert [reduced(BN254.fq2, values, i) for i in range(3)] == [True, False, False]


@njit(nogil=True)
def copy(F, out, i, a, k):
    f.store(F, out, i, f.load(F, a, k))


def test_load_and_store_touch_one_element():
    field = CURVES["bls12381"].fq2
    a = ints_to_limbs(range(1, 9), 6).reshape(4, 2, 6)
    out = np.zeros((2, 2, 2, 6), np.uint64)  # any shape: elements in a row
    copy(field, out, 3, a, 1)
    assert limbs_to_ints(out.reshape(-1, 6)) == [0] * 6 + [3, 4]


def test_index_of_words_beyond_32_bits(tmp_path):
    """2^29 + 8 elements of four words: 16 GiB in a sparse file."""
    n = 2**29 + 8
    big = np.memmap(tmp_path / "sparse", np.uint64, "w+", shape=(n, 4))
    copy(BN254.fr, np.asarray(big), n - 1, ints_to_limbs([5], 4), 0)
    assert limbs_to_ints(np.asarray(big[-2:])) == [0, 5]


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((2, 4), np.int64), "C-contiguous arrays of uint64"),
        (np.zeros((2, 8), np.uint64)[:, ::2], "C-contiguous arrays of uint64"),
        (np.zeros((4, 2), np.uint64).T, "C-contiguous arrays of uint64"),
    ],
)
def test_wrong_arrays_do_not_compile(array, message):
    with pytest.raises(TypingError, match=message):
        copy(BN254.fr, array, 0, array, 0)


def test_wrong_elements_and_tokens_do_not_compile():
    a = np.zeros((2, 4), np.uint64)

    @njit
    def mixed(F, G, a):
        return f.add(F, f.load(F, a, 0), f.load(G, a, 0))

    with pytest.raises(TypingError, match=r"an element of BN254\.Fq"):
        mixed(BN254.fq, CURVES["bls12381"].fq, a)
    with pytest.raises(TypingError, match="must be a Field or QuadraticField"):
        copy(BN254.g1, a, 0, a, 0)


def test_read_only_arrays_cannot_be_written():
    a = np.zeros((2, 4), np.uint64)
    a.flags.writeable = False
    with pytest.raises(TypingError, match="may be written"):
        copy(BN254.fr, a, 0, a, 0)


@njit(nogil=True)
def through_tokens(G, out):
    f.store(G.field, out, 0, f.one(G.field))
    f.store(G.field.base, out, 2, f.one(G.field.base))


def test_tokens_give_their_fields():
    out = np.zeros((4, 4), np.uint64)
    through_tokens(BN254.g2, out)
    one = BN254.fq.montgomery_one
    assert limbs_to_ints(out) == [one, 0, one, 0]


def test_equal_descriptions_share_code_and_others_do_not():
    same = QuadraticField("BN254.Fq2", Field("BN254.Fq", BN254.fq.modulus, 4))
    other = Field("BN254.Fr", BN254.fr.modulus - 2, 4)  # the same name and another modulus
    a, out = ints_to_limbs([0, 1], 4).reshape(1, 2, 4), np.zeros((13, 2, 4), np.uint64)
    for field in (BN254.fq2, same):
        operate(field, out, a, a)
    known = len(operate.signatures)
    operate(same, out, a, a)
    assert len(operate.signatures) == known
    check(operate, other, [(other.modulus - 1, 2)])
