from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from groth16.limbs import first_not_below

MODULUS = (7 << 64) + 5
NEAR = st.one_of(st.integers(MODULUS - 3, MODULUS + 3), st.integers(0, 2**128 - 1), st.integers(0, 9))


@given(st.lists(NEAR, max_size=20))
def test_finds_the_first_value_not_below_the_modulus(values: list[int]) -> None:
    array = np.array([[value & (2**64 - 1), value >> 64] for value in values], np.uint64).reshape(-1, 2)
    expected = next((index for index, value in enumerate(values) if value >= MODULUS), None)
    assert first_not_below(array, MODULUS) == expected


def test_finds_it_beyond_the_first_block() -> None:
    values = np.zeros((100_000, 2), np.uint64)
    values[70_000] = [5, 7]
    assert first_not_below(values, MODULUS) == 70_000
    values[70_000] = [4, 7]
    assert first_not_below(values, MODULUS) is None
