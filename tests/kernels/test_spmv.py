"""Sparse rows times a vector against Python integers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.cpu import ifma
from kernels.cpu.spmv import multiply_rows
from kernels.encoding import from_montgomery_ints, ints_to_limbs, to_montgomery_limbs
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
    """Rows of (column, coefficient), coefficients stored times R² as in a `.zkey`, times canonical x."""
    entries = [entry for row in rows for entry in row]
    r = field.montgomery_one
    coefficients = to_montgomery_limbs(field, [coefficient * r for _, coefficient in entries])
    row_starts = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    columns = np.array([column for column, _ in entries], np.uint32)
    out = to_montgomery_limbs(field, [77] * len(rows))
    stop = len(rows) if stop is None else stop
    multiply_rows(field, out, row_starts, columns, coefficients, ints_to_limbs(x, field.limbs), start, stop)
    return from_montgomery_ints(field, out)


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
def test_a_very_long_row_of_the_largest_terms(field):
    n, largest = 70_000, field.modulus - 1
    r2 = to_montgomery_limbs(field, [largest * field.montgomery_one])
    out, x = np.zeros((1, 4), np.uint64), ints_to_limbs([largest], 4)
    coefficients = np.repeat(r2, n, axis=0)
    multiply_rows(field, out, np.array([0, n]), np.zeros(n, np.uint32), coefficients, x, 0, 1)
    assert from_montgomery_ints(field, out) == [n]


@every_curve
def test_montgomery_coefficients_give_canonical_output(field):
    out = np.zeros((1, 4), np.uint64)
    coefficients, x = to_montgomery_limbs(field, [6, field.modulus - 1]), ints_to_limbs([7, 2], 4)
    multiply_rows(field, out, np.array([0, 2]), np.array([0, 1], np.uint32), coefficients, x, 0, 1)
    assert out.tolist() == [[40, 0, 0, 0]]
