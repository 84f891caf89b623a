"""A setup's scalars against those of `groth16.key_scalars`."""

import random

import pytest

from groth16 import key_scalars
from kernels.cuda.lagrange import lagrange_basis, odd_basis, powers
from kernels.cuda.ntt import Domain
from kernels.encoding import from_montgomery_ints
from kernels.fields import BLS12_381, BN254
from kernels.parallel import serial
from tests.cuda.conftest import SIMULATED
from tests.kernels.points import name

each_field = pytest.mark.parametrize("F", [BN254.fr, BLS12_381.fr], ids=name)
each_size = pytest.mark.parametrize("log2_size", [3, 5] if SIMULATED else [3, 9, 12])


@each_field
@each_size
def test_powers(F, log2_size):
    got = from_montgomery_ints(F, powers(F, log2_size, 5, 7).copy_to_host())
    assert got == [5 * pow(7, i, F.modulus) % F.modulus for i in range(1 << log2_size)]


@each_field
@each_size
def test_both_bases_are_those_of_the_processor(F, log2_size):
    rng = random.Random(log2_size)
    tau, scale = rng.randrange(F.modulus), rng.randrange(F.modulus)
    domain, size = Domain(F, log2_size), 1 << log2_size
    for ours, theirs in ((lagrange_basis, key_scalars.lagrange_basis), (odd_basis, key_scalars.odd_basis)):
        assert (ours(domain, tau, scale).copy_to_host() == theirs(F, size, tau, scale, serial)).all()
