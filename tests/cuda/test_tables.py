"""Sums by tables of multiples, against sums of known multiples of the generator."""

import dataclasses
import random

import pytest
from numba import cuda

from kernels.cuda import tables
from kernels.cuda.digits import Base
from kernels.cuda.memory import Workspace
from kernels.cuda.tables import make_table, msm_by_table
from kernels.encoding import decode_points, encode_points, ints_to_limbs
from kernels.fields import BLS12_381, BN254
from tests.cuda.conftest import SIMULATED
from tests.kernels.points import GROUPS, decoded, multiples, multiply, name

each_group = pytest.mark.parametrize("G", (BN254.g1,) if SIMULATED else GROUPS, ids=name)


def bounded(G, limit):
    """The group as if its order were smaller, where few windows must do."""
    return dataclasses.replace(G, order=limit if SIMULATED else G.order)


@each_group
@pytest.mark.parametrize("factor", [1, 3, 13])
def test_rows_are_multiples(G, factor):
    base = Base(factor, 3, 9 if factor == 1 else 3)  # only the rows' factors matter
    points = [*multiples(G, 4), None]
    table = make_table(G, cuda.to_device(encode_points(G, points)), 3, Workspace(), base)
    assert len(table.multiples) == 3
    for row, made in enumerate(table.multiples.copy_to_host()):
        power = (factor << 3) ** (row * table.sets)
        assert decode_points(G, made) == [p and multiply(G, p, power) for p in points]


@each_group
@pytest.mark.parametrize("rows", [1, 2, 99])
@pytest.mark.parametrize("parts", [1, 2])
def test_sum_of_random_multiples(G, rows, parts, monkeypatch):
    G, rng, n = bounded(G, 1 << 9), random.Random(rows), 5 if SIMULATED else 3000
    logarithms, scalars = ([rng.randrange(below) for _ in range(n)] for below in (40, G.order))
    points = cuda.to_device(encode_points(G, [multiples(G, 40)[i] for i in logarithms]))
    table = make_table(G, points, rows, Workspace())
    assert rows < 99 or table.sets == 1
    monkeypatch.setattr(tables, "MOST_ENTRIES", 1 << 30 if parts == 1 else 2 * n)
    got = msm_by_table(G, table, cuda.to_device(ints_to_limbs(scalars, 4)), Workspace())
    total = sum(i * s for i, s in zip(logarithms, scalars, strict=True))
    assert decoded(G, got) == multiply(G, G.generator, total)


def test_misshapen_inputs_are_refused():
    G = BLS12_381.g1
    table = make_table(G, cuda.to_device(encode_points(G, multiples(G, 3))), 1, Workspace())
    with pytest.raises(ValueError, match="scalars are"):
        msm_by_table(G, table, cuda.to_device(ints_to_limbs([1, 2], 4)), Workspace())
