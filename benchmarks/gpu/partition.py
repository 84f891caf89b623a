"""One partition of a shaped circuit on a device, from its witness to a proof that a pairing checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.circuits.shaped import Shape, draw_witness
from benchmarks.gpu.shaped_key import ShapedKey
from benchmarks.gpu.shaped_rows import evaluate
from groth16.cuda.prover import DeviceInputs, multiply_all
from groth16.proof import Proof
from groth16.prover import blind
from groth16.verification_key import VerificationKey
from groth16.verifier import verify
from kernels.cuda.memory import Workspace
from kernels.cuda.transfer import Uploader, new_array
from kernels.encoding import limbs_to_ints
from kernels.parallel import Run, serial


@dataclass(frozen=True)
class Partition:
    """What is uploaded of one: the witness's values, a and b; and what its proof is verified by."""

    key: ShapedKey
    shape: Shape
    values: Any
    a: Any
    b: Any
    vk: VerificationKey
    public: list[int]


def make_partition(key: ShapedKey, shape: Shape, run: Run) -> Partition:
    """With a witness drawn for the shape, which is the key's but for the share of significant values."""
    device_key = key.device_key
    witness = draw_witness(device_key.curve.fr, shape, run)
    values = Uploader().to_device(witness, run)
    a, b, scratch = (new_array((device_key.domain.size, 4), np.uint64) for _ in range(3))
    evaluate(device_key.curve.fr, shape, values, a, b)
    vk = key.verification_key(shape, values, a, b, scratch)
    return Partition(key, shape, values, a, b, vk, limbs_to_ints(witness[1 : 1 + shape.n_public]))


def prove(partition: Partition, workspace: Workspace) -> Proof:
    """Uses up a and b (see `refill`)."""
    inputs = DeviceInputs(partition.values, (partition.a, partition.b))
    sums = multiply_all(partition.key.device_key, inputs, workspace, serial)
    return blind(partition.key.head, sums)


def refill(partition: Partition) -> None:
    """Make a and b again, for another proof."""
    fr = partition.key.device_key.curve.fr
    evaluate(fr, partition.shape, partition.values, partition.a, partition.b)


def check(partition: Partition, proof: Proof) -> None:
    """Raises VerificationFailed."""
    verify(partition.vk, partition.public, proof)
