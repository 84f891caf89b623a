"""Sparse rows times a vector against Python integers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.cpu import ifma
from kernels.cpu.spmv import add_products, sum_units
from kernels.encoding import ints_to_limbs, limbs_to_ints, to_montgomery_limbs
from kernels.fields import CURVES, Field

VARIANTS = ["off", "auto" if ifma.available() else "emulated"]
every_curve = pytest.mark.parametrize("field", [curve.fr for curve in CURVES.values()], ids=CURVES)


@pytest.fixture(autouse=True, scope="module", params=VARIANTS)
def variant(request):
    """Lanes off and on; on, with emulated instructions where the processor lacks them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernels.cpu.lane_tokens.CHOICE", request.param)
        yield


def product(field: Field, rows, x, start=0, stop=None):
    """Rows of (column, coefficient), coefficients in Montgomery form, times canonical x; 77 in other rows."""
    entries = [entry for row in rows for entry in row]
    coefficients = to_montgomery_limbs(field, [coefficient for _, coefficient in entries])
    row_starts = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    columns = np.array([column for column, _ in entries], np.uint32)
    out = ints_to_limbs([77] * len(rows), field.limbs)
    stop = len(rows) if stop is None else stop
    out[start:stop] = 0
    add_products(field, out, row_starts, columns, coefficients, ints_to_limbs(x, field.limbs), start, stop)
    return limbs_to_ints(out)


@every_curve
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_rows(field, data):
    p = field.modulus
    numbers = st.sampled_from([0, 1, p - 1]) | st.integers(0, p - 1)
    x = data.draw(st.lists(numbers, min_size=1, max_size=8))
    entry = st.tuples(st.integers(0, len(x) - 1), numbers)  # a column may come twice
    rows = data.draw(st.lists(st.lists(entry, max_size=12), max_size=12))
    assert product(field, rows, x) == [sum(c * x[k] for k, c in row) % p for row in rows]


@every_curve
def test_only_the_rows_asked_for(field):
    rows = [[(0, 5)], [], [(0, 7)], [(0, 9)]]
    assert product(field, rows, [2], 1, 3) == [77, 0, 14, 77]


@every_curve
def test_products_are_added_to_what_is_there(field):
    p = field.modulus
    out = ints_to_limbs([p - 1, 5], 4)
    row_starts, columns = np.array([0, 1, 1]), np.zeros(1, np.uint32)
    add_products(
        field, out, row_starts, columns, to_montgomery_limbs(field, [3]), ints_to_limbs([2], 4), 0, 2
    )
    assert limbs_to_ints(out) == [5, 5]


@every_curve
@pytest.mark.parametrize("n", [63, 64, 65, 128, 70_000])
def test_long_rows_of_the_largest_terms(field, n):
    """Rows that end where a block of products does, just before and just after; the next has a term too."""
    largest = field.modulus - 1
    out, x = np.zeros((2, 4), np.uint64), ints_to_limbs([largest], 4)
    coefficients = np.repeat(to_montgomery_limbs(field, [largest]), n + 1, axis=0)
    add_products(field, out, np.array([0, n, n + 1]), np.zeros(n + 1, np.uint32), coefficients, x, 0, 2)
    assert limbs_to_ints(out) == [n, 1]


@every_curve
def test_canonical_coefficients_with_montgomery_values(field):
    out = np.zeros((1, 4), np.uint64)
    coefficients, x = ints_to_limbs([6, field.modulus - 1], 4), to_montgomery_limbs(field, [7, 2])
    add_products(field, out, np.array([0, 2]), np.array([0, 1], np.uint32), coefficients, x, 0, 1)
    assert limbs_to_ints(out) == [40]


@every_curve
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_units(field, data):
    p = field.modulus
    numbers = st.sampled_from([0, 1, p - 1]) | st.integers(0, p - 1)
    x = data.draw(st.lists(numbers, min_size=1, max_size=8))
    rows = data.draw(st.lists(st.lists(st.integers(-len(x), len(x) - 1), max_size=12), max_size=12))
    start = data.draw(st.integers(0, len(rows)))
    out = ints_to_limbs([77] * len(rows), 4)
    columns = np.array([column for row in rows for column in row], np.int32)
    row_starts = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    sum_units(field, out, row_starts, columns, ints_to_limbs(x, 4), start, len(rows))
    wanted = [sum(x[k] if k >= 0 else -x[~k] for k in row) % p for row in rows[start:]]
    assert limbs_to_ints(out) == [77] * start + wanted


@every_curve
def test_many_units_of_the_largest_value(field):
    n, largest = 70_000, field.modulus - 1
    out, x = np.zeros((2, 4), np.uint64), ints_to_limbs([largest], 4)
    columns = np.repeat(np.array([0, -1], np.int32), n)
    sum_units(field, out, np.array([0, n, 2 * n]), columns, x, 0, 2)
    assert limbs_to_ints(out) == [field.modulus - n, n]
