"""Multiples of the generators against py_ecc."""

import dataclasses
import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numba import cuda

from kernels.cuda import fixed_base
from kernels.cuda.fixed_base import FixedBase, multiply_generator
from kernels.cuda.memory import Workspace
from kernels.encoding import decode_points, ints_to_limbs
from kernels.parallel import PoolRunner, Stopped, serial
from tests.cuda.conftest import SIMULATED
from tests.kernels.points import GROUPS, multiply, name

each_group = pytest.mark.parametrize("G", GROUPS[:2] if SIMULATED else GROUPS, ids=name)


def bounded(G):
    """The group as if it had few elements, so that few windows do: the simulator takes long."""
    return dataclasses.replace(G, order=1 << 10) if SIMULATED else G


@each_group
@pytest.mark.parametrize("bits", [1, 2, 4] if SIMULATED else [1, 2, 4, 8, 16])
def test_edge_and_random_scalars(G, bits, many):
    small, rng = bounded(G), random.Random(bits)
    scalars = [0, 1, 2, 3, small.order - 1, *(rng.randrange(small.order) for _ in range(min(many, 60)))]
    out = cuda.device_array((len(scalars), *G.point_shape), np.uint64)
    FixedBase(small, Workspace(), bits).multiply(cuda.to_device(ints_to_limbs(scalars, 4)), out)
    assert decode_points(G, out.copy_to_host()) == [multiply(G, G.generator, s) for s in scalars]


@pytest.fixture
def small_table(monkeypatch):
    monkeypatch.setattr(FixedBase.__init__, "__defaults__", (2 if SIMULATED else 8,))


@each_group
@pytest.mark.usefixtures("small_table")
def test_from_and_to_host_memory_in_parts(G, monkeypatch):
    monkeypatch.setattr(fixed_base, "POINTS_AT_ONCE", 5)
    small = bounded(G)
    scalars = [0, *range(small.order - 6, small.order), 7]
    points = multiply_generator(small, ints_to_limbs(scalars, 4), serial)
    assert decode_points(G, points) == [multiply(G, G.generator, s) for s in scalars]


def test_no_scalars():
    assert multiply_generator(GROUPS[0], np.zeros((0, 4), np.uint64), serial).shape == (0, 2, 4)


@pytest.mark.usefixtures("small_table")
def test_a_stop_is_noticed():
    with ThreadPoolExecutor(1) as pool:
        run = PoolRunner(pool, 1, lambda: True)
        with pytest.raises(Stopped):
            multiply_generator(bounded(GROUPS[0]), ints_to_limbs([1], 4), run)


def test_misshapen_scalars_are_refused():
    with pytest.raises(ValueError, match="scalars are"):
        multiply_generator(GROUPS[0], np.zeros((3, 6), np.uint64), serial)
