"""Transforms against evaluation of the polynomial at the domain's points, in Python integers."""

import random
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.cpu import ifma
from kernels.cpu.lane_ntt import LEAST_LOG2_SIZE
from kernels.cpu.ntt import TILE_BITS, Domain, domain_of
from kernels.cpu.ntt64 import PASS_LEVELS
from kernels.encoding import from_montgomery_ints, to_montgomery_limbs
from kernels.fields import CURVES, Field
from kernels.parallel import PoolRunner, serial

FIELDS = [curve.fr for curve in CURVES.values()]
every_curve = pytest.mark.parametrize("field", FIELDS, ids=CURVES)
F97 = Field("F97", 97, 1)  # 2-adicity 5: a field whose whole range of domains can be tried
VARIANTS = ["off", "auto" if ifma.available() else "emulated"]


@pytest.fixture(autouse=True, scope="module", params=VARIANTS)
def variant(request):
    """Lanes off and on; on, with emulated instructions where the processor lacks them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernels.cpu.lane_tokens.CHOICE", request.param)
        yield


def evaluate(coefficients, x, p):
    value = 0
    for coefficient in reversed(coefficients):
        value = (value * x + coefficient) % p
    return value


def values_on(field, coefficients, shift=1):
    log2_size = (len(coefficients) - 1).bit_length()
    root, p = field.root_of_order(log2_size), field.modulus
    return [evaluate(coefficients, shift * pow(root, k, p), p) for k in range(len(coefficients))]


@every_curve
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_small_domains(field, data):
    p, log2_size = field.modulus, data.draw(st.integers(0, 5))
    number = st.sampled_from([0, 1, p - 1]) | st.integers(0, p - 1)
    coefficients = data.draw(st.lists(number, min_size=1 << log2_size, max_size=1 << log2_size))
    domain, a = Domain(field, log2_size), to_montgomery_limbs(field, coefficients)
    domain.forward(a, serial)
    assert from_montgomery_ints(field, a) == values_on(field, coefficients)
    coset = a.copy()
    domain.inverse(a, serial)
    assert from_montgomery_ints(field, a) == coefficients
    domain.to_odd_coset(coset, serial)
    assert from_montgomery_ints(field, coset) == values_on(
        field, coefficients, field.root_of_order(log2_size + 1)
    )


@every_curve
@pytest.mark.parametrize(
    "log2_size", [LEAST_LOG2_SIZE, PASS_LEVELS, 2 * TILE_BITS, 2 * PASS_LEVELS, 2 * PASS_LEVELS + 1]
)
def test_domains_of_few_and_many_passes(field, log2_size):
    """Too large for all values by hand: some points of each."""
    n, p = 1 << log2_size, field.modulus
    generator = random.Random(log2_size)
    coefficients = [generator.randrange(p) for _ in range(n)]
    domain, a = Domain(field, log2_size), to_montgomery_limbs(field, coefficients)
    domain.forward(a, serial)
    coset = a.copy()
    domain.to_odd_coset(coset, serial, factor=p - 3)
    root, shift = field.root_of_order(log2_size), field.root_of_order(log2_size + 1)
    for k in (0, 1, n // 2, n - 1, generator.randrange(n)):
        point = pow(root, k, p)
        found = from_montgomery_ints(field, np.stack([a[k], coset[k]]))
        assert found == [evaluate(coefficients, point, p), -3 * evaluate(coefficients, shift * point, p) % p]
    domain.inverse(a, serial)
    assert from_montgomery_ints(field, a) == coefficients


@every_curve
@pytest.mark.parametrize("log2_size", [LEAST_LOG2_SIZE, PASS_LEVELS, 2 * PASS_LEVELS])
def test_values_that_add_up_on_every_level(field, log2_size):
    """All p − 1, and p − 1 in turn with 1: sums and differences are then as large as they can be."""
    n, p = 1 << log2_size, field.modulus
    domain = Domain(field, log2_size)
    largest, one, zero = (to_montgomery_limbs(field, [value]) for value in (-1, 1, 0))
    constant, turns = np.repeat(largest, n, axis=0), np.tile(np.concatenate([largest, one]), (n // 2, 1))
    coset = constant.copy()
    domain.to_odd_coset(coset, serial)
    assert (coset == constant).all()
    coset = turns.copy()  # the values of −x^(n/2), which is −v^(n/2) in turn with its negative on the coset
    domain.to_odd_coset(coset, serial)
    quarter = pow(field.root_of_order(log2_size + 1), n // 2, p)
    assert (coset == np.tile(to_montgomery_limbs(field, [-quarter, quarter]), (n // 2, 1))).all()
    for values, place in ((constant, 0), (turns, n // 2)):
        domain.forward(values, serial)
        assert from_montgomery_ints(field, values[place : place + 1]) == [p - n]
        values[place] = zero
        assert not values.any()


@pytest.mark.parametrize("log2_size", [3, 9, 12])
def test_threads_give_the_same(log2_size):
    field, n = FIELDS[0], 1 << log2_size
    start = to_montgomery_limbs(field, range(1, n + 1))
    with ThreadPoolExecutor(2) as executor:
        for transform in (Domain.forward, Domain.inverse, Domain.to_odd_coset):
            alone, together = start.copy(), start.copy()
            transform(Domain(field, log2_size), alone, serial)
            transform(Domain(field, log2_size), together, PoolRunner(executor, 2))
            assert (alone == together).all()


def test_up_to_the_last_domain_of_a_field():
    for log2_size in range(F97.two_adicity + 1):
        coefficients = [(i * i + 3) % 97 for i in range(1 << log2_size)]
        domain, a = Domain(F97, log2_size), to_montgomery_limbs(F97, coefficients)
        domain.forward(a, serial)
        assert from_montgomery_ints(F97, a) == values_on(F97, coefficients)
        before = a.copy()
        if log2_size < F97.two_adicity:
            domain.to_odd_coset(a, serial)
            shift = F97.root_of_order(log2_size + 1)
            assert from_montgomery_ints(F97, a) == values_on(F97, coefficients, shift)
        else:
            with pytest.raises(ValueError, match=r"no root of unity of order 2\^6; at most 2\^5"):
                domain.to_odd_coset(a, serial)
            assert (a == before).all()


@pytest.mark.parametrize(("field", "log2_size"), [(F97, 6), (FIELDS[0], 29), (FIELDS[1], 33), (F97, -1)])
def test_no_domain_beyond_the_two_adicity(field, log2_size):
    with pytest.raises(ValueError, match=f"no root of unity of order 2.{log2_size};"):
        Domain(field, log2_size)


@pytest.mark.parametrize(
    "wrong",
    [
        np.zeros((7, 4), np.uint64),
        np.zeros((8, 6), np.uint64),
        np.zeros((8, 4), np.int64),
        np.zeros((4, 8), np.uint64).T,
        np.zeros((16, 4), np.uint64)[::2],
        np.broadcast_to(np.uint64(0), (8, 4)),
    ],
)
def test_wrong_arrays_are_refused(wrong):
    domain = Domain(FIELDS[0], 3)
    for transform in (domain.forward, domain.inverse, domain.to_odd_coset):
        with pytest.raises(ValueError, match=r"writable C-contiguous uint64 array \(8, 4\)"):
            transform(wrong, serial)


def test_domains_are_kept_and_shared_between_threads():
    field = FIELDS[0]
    with ThreadPoolExecutor(4) as executor:
        domains = list(executor.map(lambda _: domain_of(field, 9), range(8)))
    assert all(domain is domains[0] for domain in domains)
    assert domains[0] is not domain_of(field, 8)
    assert domain_of(FIELDS[1], 9) is not domains[0]
    assert domains[0].table_bytes // 32 in (2**9 // 2, 2**9 // 2 + 1)


def test_a_domain_is_gone_with_the_last_who_holds_it():
    domain = domain_of(FIELDS[0], 10)
    gone = weakref.ref(domain)
    assert domain_of(FIELDS[0], 10) is domain
    del domain
    assert gone() is None
