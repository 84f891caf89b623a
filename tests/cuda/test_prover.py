"""The prover's steps on a device give what those on the CPU give."""

from dataclasses import replace

import numpy as np
import pytest

from groth16.cuda import prover
from groth16.cuda.key import DeviceKey, upload_key
from groth16.cuda.points import HostPoints, multiply_points, upload_points
from groth16.matrices import read_matrices
from groth16.prover import blind
from groth16.quotient import quotient
from groth16.synthesis import synthesize
from groth16.verification_key import verification_key_of
from groth16.verifier import verify
from groth16.witness import read_witness
from groth16.zkey import read_proving_key
from kernels.cpu.ntt import domain_of
from kernels.cuda import warmup
from kernels.cuda.device import Device
from kernels.cuda.memory import Workspace
from kernels.cuda.transfer import Uploader
from kernels.encoding import encode_points, ints_to_limbs
from kernels.fields import BN254, CURVES
from kernels.parallel import serial
from tests.cuda.conftest import SIMULATED, arrays_left
from tests.groth16 import oracle, proving
from tests.kernels.points import decoded, multiples, multiply

needs_device = pytest.mark.skipif(SIMULATED, reason="the simulator takes minutes")


class Case:
    """A random circuit with its key and witness, and the key on the device."""

    def __init__(self, curve, folder, **shape):
        self.circuit = oracle.random_circuit(curve, 7, **shape)
        files = proving.set_up(self.circuit, folder)
        self.key, self.witness = read_proving_key(files.zkey), read_witness(files.wtns)
        self.matrices = read_matrices(self.key.header)
        self.uploader, self.workspace = Uploader(), Workspace()
        self.device_key: DeviceKey = upload_key(self.key, self.matrices, self.uploader, serial)
        self.files = files

    def evaluations(self):
        return synthesize(self.matrices, self.witness, self.key.header.domain_size, serial)

    def upload(self, evaluations):
        return prover.upload_inputs(self.witness, evaluations, self.uploader, Workspace(), serial)


@pytest.fixture(scope="module", params=sorted(CURVES))
def case(request, tmp_path_factory):
    shape = {} if SIMULATED else {"n_constraints": 500, "n_private": 300}
    with Device(0).active():
        yield Case(request.param, tmp_path_factory.mktemp(request.param), **shape)


def test_a_and_b_are_the_products_with_the_witness(case):
    a, b = prover._evaluate(case.device_key, case.upload(None).values, case.workspace)
    expected = case.evaluations()
    assert (a.copy_to_host() == expected.a).all()
    assert (b.copy_to_host() == expected.b).all()


@pytest.mark.parametrize("made_on_host", [True, False])
def test_the_quotient_is_that_of_the_cpu(case, made_on_host):
    inputs = case.upload(case.evaluations() if made_on_host else None)
    scalars = prover._quotient_scalars(case.device_key, inputs, case.workspace).copy_to_host()
    log2_size = len(scalars).bit_length() - 1
    expected = quotient(domain_of(case.key.header.curve.fr, log2_size), case.evaluations(), serial)
    assert (scalars == expected).all()


@needs_device
@pytest.mark.parametrize("made_on_host", [True, False])
def test_sums_are_those_of_the_cpu_and_the_proof_verifies(case, made_on_host):
    inputs = case.upload(case.evaluations() if made_on_host else None)
    sums = prover.multiply_all(case.device_key, inputs, case.workspace, serial)
    _, expected = proving.sums_of(case.files)
    for name in ("a", "b_g1", "b_g2", "c", "h"):
        assert (getattr(sums, name) == getattr(expected, name)).all(), name
    verify(verification_key_of(case.key), case.circuit.public, blind(case.key, sums))


@needs_device
def test_a_key_in_host_memory_gives_the_same_sums(case):
    inputs = case.upload(None)
    resident = prover.multiply_all(case.device_key, inputs, case.workspace, serial)
    key = upload_key(case.key, case.matrices, case.uploader, serial, streamed=True)
    piece_bytes = case.key.a.nbytes // 3  # as if the device were as small
    sections = {name: replace(getattr(key, name), piece_bytes=piece_bytes) for name in vars(resident)}
    sums = prover.multiply_all(replace(key, **sections), case.upload(None), case.workspace, serial)
    for name, expected in vars(resident).items():
        assert (getattr(sums, name) == expected).all(), name


@needs_device
def test_nothing_is_kept_of_many_proofs(case):
    left = []
    for proofs in (1, 100):
        for _ in range(proofs):
            prover.multiply_all(case.device_key, case.upload(None), case.workspace, serial)
        left.append(arrays_left())
    assert left[0] == left[1]


def test_points_in_host_memory_pass_through_the_device():
    G, scalars = BN254.g1, [1, 2, 3, 4]
    points = encode_points(G, [None, *multiples(G, 4)[1:]])
    with Device(0).active():
        array = Uploader().to_device(ints_to_limbs(scalars, 4), serial)
        few_windows, host = replace(G, order=8), HostPoints(points, Uploader(), 2 * G.point_bytes)
        got = multiply_points(BN254.fr, few_windows, host, array, Workspace(), serial).point()
    assert decoded(G, got) == multiply(G, G.generator, 2 * 1 + 3 * 2 + 4 * 3)


def test_points_at_infinity_stay_behind():
    G, infinite = BN254.g1, {0, 3, 4}
    table = multiples(G, 7)
    points = encode_points(G, [None if i in infinite else table[i] for i in range(7)])
    scalars = list(range(1, 8))
    with Device(0).active():
        uploader = Uploader()
        sent = upload_points(points, uploader, serial)
        assert sent.wires.copy_to_host().tolist() == [1, 2, 5, 6]
        assert (sent.points.copy_to_host() == points[[1, 2, 5, 6]]).all()
        array = uploader.to_device(ints_to_limbs(scalars, 4), serial)
        few_windows = replace(G, order=8)
        got = multiply_points(BN254.fr, few_windows, sent, array, Workspace(), serial).point()
        everywhere = upload_points(encode_points(G, table[1:]), uploader, serial)
    assert decoded(G, got) == multiply(
        G, G.generator, sum(i * scalars[i] for i in range(7) if i not in infinite)
    )
    assert everywhere.wires is None


def test_few_points_at_infinity_go_along() -> None:
    points = np.ones((17, 2, 4), np.uint64)
    points[[3, 5]] = 0
    with Device(0).active():
        sent = upload_points(points, Uploader(), serial)
        assert (sent.points.copy_to_host() == points).all()
        assert sent.wires is None
        points[7] = 0
        assert len(upload_points(points, Uploader(), serial).wires) == 14


def test_points_at_an_odd_address_are_taken_apart_as_well() -> None:
    points = np.frombuffer(bytes(range(1, 194)), np.uint64, 24, offset=1).reshape(3, 2, 4).copy()
    points[1] = 0
    odd = np.frombuffer(b" " + points.tobytes(), np.uint64, 24, offset=1).reshape(3, 2, 4)
    assert not odd.flags.aligned
    with Device(0).active():
        sent = upload_points(odd, Uploader(), serial)
        assert (sent.points.copy_to_host() == points[[0, 2]]).all()


def test_a_point_whose_first_word_is_zero_is_no_infinity():
    points = np.zeros((3, 2, 4), np.uint64)
    points[1, 1, 3] = 5
    with Device(0).active():
        sent = upload_points(points, Uploader(), serial)
    assert sent.wires.copy_to_host().tolist() == [1]


def test_all_at_infinity_is_nothing():
    with Device(0).active():
        uploader = Uploader()
        sent = upload_points(np.zeros((3, 2, 4), np.uint64), uploader, serial)
        scalars = uploader.to_device(ints_to_limbs(range(3), 4), serial)
        assert not multiply_points(BN254.fr, BN254.g1, sent, scalars, Workspace(), serial).point().any()


@needs_device
@pytest.mark.parametrize("curve", CURVES.values(), ids=str)
def test_compiling_ahead_leaves_nothing_to_compile(curve):
    for step in warmup.STEPS.values():
        step(curve)
