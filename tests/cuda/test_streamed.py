"""Sums over points that pass through the device in pieces: equal to those over points that lie there."""

import dataclasses
import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from numba import cuda

from kernels.cuda.memory import Workspace
from kernels.cuda.streamed import msm_streamed
from kernels.cuda.transfer import Uploader
from kernels.encoding import encode_points, ints_to_limbs
from kernels.fields import BLS12_381, BN254
from kernels.parallel import PoolRunner, Stopped, serial
from tests.cuda.conftest import SIMULATED
from tests.kernels.points import decoded, multiples, multiply, name

SIZES = [1, 3, 7] if SIMULATED else [1, 3, 7, 1000, 5000]


def streamed(G, n, piece_points, run=serial, n_scalars=None):
    """The sum, and the scalar by which the generator gives the same."""
    rng, limit = random.Random(n), 16 if SIMULATED else G.order
    logarithms, scalars = ([rng.randrange(below) for _ in range(n)] for below in (40, limit))
    table = multiples(G, 40)
    points = encode_points(G, [table[i] for i in logarithms])
    array = cuda.to_device(ints_to_limbs(scalars, 4))[:n_scalars]
    bounded = dataclasses.replace(G, order=limit)
    piece_bytes = piece_points * G.point_bytes
    got = msm_streamed(bounded, points, array, Workspace(), Uploader(), run, piece_bytes)
    return got, sum(i * s for i, s in zip(logarithms, scalars, strict=True)) % G.order


@pytest.mark.parametrize("G", [BN254.g1] if SIMULATED else [BN254.g1, BLS12_381.g1, BLS12_381.g2], ids=name)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("pieces", [1, 2, 3, 5])
def test_any_number_of_pieces_gives_the_same_sum(G, n, pieces):
    got, scalar = streamed(G, n, -(-n // pieces))
    assert decoded(G, got) == multiply(G, G.generator, scalar)


def test_a_stop_between_two_pieces_leaves_no_thread():
    before = threading.active_count()
    with ThreadPoolExecutor(1) as pool:
        asked = iter(range(100))
        run = PoolRunner(pool, 1, lambda: next(asked) > 2)
        with pytest.raises(Stopped):
            streamed(BN254.g1, 7, 1, run)
    assert threading.active_count() == before


def test_another_number_of_scalars_is_refused():
    with pytest.raises(ValueError, match="6 scalars for 7 points"):
        streamed(BN254.g1, 7, 2, n_scalars=6)
