"""A proof's heavy part on a device: from the witness, or from a and b, to the five sums.

A partition first brings its arrays, which needs nothing of what others compute with; so one partition's
arrays come while another's are worked on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from groth16.cuda.key import DeviceKey
from groth16.cuda.matrices import evaluate
from groth16.cuda.points import multiply_points
from groth16.prover import Sums
from groth16.synthesis import Evaluations
from groth16.witness import Witness
from kernels.cuda import vectors
from kernels.cuda.memory import Workspace
from kernels.cuda.msm import Doublings
from kernels.cuda.quotient import quotient
from kernels.cuda.transfer import Uploader
from kernels.parallel import Run, check_stop


@dataclass(frozen=True)
class DeviceInputs:
    """A partition's arrays on the device: the witness's values, and a and b where the host has made them."""

    values: Any
    evaluations: tuple[Any, Any] | None


def upload_inputs(
    witness: Witness, evaluations: Evaluations | None, uploader: Uploader, workspace: Workspace, run: Run
) -> DeviceInputs:
    """Send what a partition needs to the device that is active, into arrays of `workspace`.

    Of `evaluations` only a and b go there: c is their product. Nothing of the host's is kept. Raises
    OutOfDeviceMemory, DeviceLost, Stopped.
    """

    def send(name: str, source: NDArray[Any]) -> Any:
        target = workspace.array(name, source.shape, "uint64")
        uploader.upload(target, source, run)
        return target

    values = send("values", witness.values)
    if evaluations is None:
        return DeviceInputs(values, None)
    return DeviceInputs(values, (send("a", evaluations.a), send("b", evaluations.b)))


def multiply_all(key: DeviceKey, inputs: DeviceInputs, workspace: Workspace, run: Run) -> Sums:
    """The sums over the key's points, in host memory; what `groth16.prover.multiply_all` gives.

    `inputs` are used up. Raises OutOfDeviceMemory, DeviceLost, Stopped.
    """
    return finish(start_sums(key, inputs, workspace, run), run)


def start_sums(key: DeviceKey, inputs: DeviceInputs, workspace: Workspace, run: Run) -> list[Doublings]:
    """What the device does of the sums: the fields of `Sums` in their order. The workspace is free then.

    `run` is looked at for whether to stop, and fetches what of the key is in host memory.
    """
    curve, values = key.curve, inputs.values
    scalars = _quotient_scalars(key, inputs, workspace)
    sums = []
    for group, points, factors in (
        (curve.g1, key.a, values),
        (curve.g1, key.b_g1, values),
        (curve.g2, key.b_g2, values),
        (curve.g1, key.c, values[key.n_public + 1 :]),
        (curve.g1, key.h, scalars),
    ):
        check_stop(run)
        sums.append(multiply_points(curve.fr, group, points, factors, workspace, run))
    return sums


def finish(sums: list[Doublings], run: Run) -> Sums:
    """What is left for the processors, side by side."""
    return Sums(*run(Doublings.point, [(each,) for each in sums]))


def _quotient_scalars(key: DeviceKey, inputs: DeviceInputs, workspace: Workspace) -> Any:
    """The quotient's values, where a was."""
    a, b = inputs.evaluations or _evaluate(key, inputs.values, workspace)
    field = key.curve.fr
    c = workspace.array("c", a.shape, "uint64")
    vectors.multiply(field, c, a, b)
    quotient(key.domain, a, b, c)
    return a


def _evaluate(key: DeviceKey, values: Any, workspace: Workspace) -> tuple[Any, Any]:
    assert key.a_rows is not None, "without matrices a partition brings its a and b"
    assert key.b_rows is not None, "without matrices a partition brings its a and b"
    a, b = (workspace.array(name, (key.domain.size, 4), "uint64") for name in ("a", "b"))
    evaluate(key.curve.fr, key.a_rows, values, a)
    evaluate(key.curve.fr, key.b_rows, values, b)
    return a, b
