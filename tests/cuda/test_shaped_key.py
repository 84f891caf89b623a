"""What is computed from a shape alone against the same from the circuit's matrices."""

import dataclasses
from random import Random

import numpy as np
import pytest
from numba import cuda

from benchmarks.circuits.shaped import Shape, draw_witness, shaped
from benchmarks.gpu.partition import check, make_partition, prove, refill
from benchmarks.gpu.shaped_key import make_key
from benchmarks.gpu.shaped_rows import evaluate
from groth16.errors import VerificationFailed
from groth16.key_scalars import Toxic, draw_toxic, multiply_matrix, with_binding_rows
from groth16.setup import key_points
from kernels.cpu.fixed_base import multiply_generator
from kernels.cpu.vectors import to_montgomery
from kernels.cuda import fixed_base
from kernels.cuda.fixed_base import FixedBase
from kernels.cuda.memory import Workspace
from kernels.cuda.ntt import Domain
from kernels.fields import BLS12_381, BN254
from kernels.parallel import serial
from tests.cuda.conftest import SIMULATED
from tests.kernels.points import name

SHAPES = [Shape(11, 9, 2, 0.5)] if SIMULATED else [Shape(11, 9, 2, 0.5), Shape(4000, 3990, 9, 0.1)]
each_shape = pytest.mark.parametrize("shape", SHAPES)


def domain_of(curve, shape):
    return Domain(curve.fr, (shape.n_constraints + shape.n_public).bit_length())


def evaluated(curve, shape, domain):
    values = cuda.to_device(draw_witness(curve.fr, shape, serial))
    a, b, scratch = (cuda.device_array((domain.size, 4), np.uint64) for _ in range(3))
    evaluate(curve.fr, shape, values, a, b)
    return values, a, b, scratch


@each_shape
def test_rows_times_witness(shape):
    curve = BN254
    domain, made = domain_of(curve, shape), shaped(curve, shape)
    _, a, b, _ = evaluated(curve, shape, domain)
    montgomery = np.empty_like(made.witness.values)
    to_montgomery(curve.fr, montgomery, made.witness.values, 0, len(montgomery))
    for matrix, got in ((with_binding_rows(made.r1cs), a), (made.r1cs.b, b)):
        expected = multiply_matrix(curve.fr, matrix, montgomery, serial)
        assert (got.copy_to_host()[: len(expected)] == expected).all()
        assert not got.copy_to_host()[len(expected) :].any()


@pytest.fixture
def quick_multiples(monkeypatch):
    """In the simulator the processor makes the multiples, which have a test of their own."""

    def multiply(self, scalars, out):
        out.copy_to_device(multiply_generator(self.group, scalars.copy_to_host(), serial))

    if SIMULATED:
        monkeypatch.setattr(FixedBase, "__init__", lambda self, group, *_: setattr(self, "group", group))
        monkeypatch.setattr(FixedBase, "multiply", multiply)


@each_shape
@pytest.mark.usefixtures("quick_multiples")
@pytest.mark.parametrize("curve", [BN254, BLS12_381], ids=name)
def test_every_point_is_the_setups(shape, curve):
    domain, rng = domain_of(curve, shape), Random(6)
    toxic = Toxic(*(rng.randrange(curve.fr.modulus) for _ in range(4)))
    key = make_key(curve, shape, domain, toxic, Workspace())
    expected = key_points(shaped(curve, shape).r1cs, domain.size, toxic, serial)
    vk = key.verification_key(shape, *evaluated(curve, shape, domain))
    assert (vk.ic == expected.ic).all()
    for part, wanted in vars(expected).items():
        if part in key.points.keys() - {"ic"}:
            assert (key.points[part] == wanted).all(), part
        elif part != "ic":
            assert (expanded(getattr(key.device_key, part), wanted) == wanted).all(), part


@each_shape
@pytest.mark.usefixtures("quick_multiples")
def test_a_setup_on_the_device_gives_the_processors_key(shape):
    curve, size = BN254, domain_of(BN254, shape).size
    r1cs, toxic = shaped(curve, shape).r1cs, draw_toxic(curve.fr, size)
    ours = key_points(r1cs, size, toxic, serial, fixed_base.multiply_generator)
    for part, wanted in vars(key_points(r1cs, size, toxic, serial)).items():
        assert (getattr(ours, part) == wanted).all(), part


def expanded(section, like):
    """A section of a key with its points at infinity."""
    points, wires = np.zeros_like(like), section.wires
    points[slice(None) if wires is None else wires.copy_to_host()] = section.points.copy_to_host()
    return points


@pytest.mark.skipif(SIMULATED, reason="the simulator takes a minute")
def test_a_proof_verifies_and_another_does_not():
    shape, curve = SHAPES[-1], BN254
    domain, workspace = domain_of(curve, shape), Workspace()
    key = make_key(curve, shape, domain, draw_toxic(curve.fr, domain.size), workspace)
    partition = make_partition(key, shape, serial)
    for _ in range(2):
        proof = prove(partition, workspace)
        check(partition, proof)
        refill(partition)
    other = [partition.public[0] + 1, *partition.public[1:]]
    with pytest.raises(VerificationFailed):
        check(dataclasses.replace(partition, public=other), proof)
