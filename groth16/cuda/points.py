"""A section of a key's points in a device's memory, without those at infinity, or in the host's, with them.

A wire that a matrix never names has none but infinity there: of B's points that is often most of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groth16.zkey import Points
from kernels.cpu.curve import lift
from kernels.cuda import vectors
from kernels.cuda.memory import Workspace
from kernels.cuda.msm import Doublings, start_msm
from kernels.cuda.streamed import PIECE_BYTES, msm_streamed
from kernels.cuda.transfer import Uploader, new_array
from kernels.fields import Field, Group
from kernels.parallel import Run, chunks, threads_of

FEW = 8  # of which one point or fewer at infinity is not worth taking the others apart
_POINTS_AT_ONCE = 1 << 16  # that one thread looks at
_PIECE_BYTES = 1 << 26  # put together in host memory before they go to the device


@dataclass(frozen=True)
class DevicePoints:
    """Affine points (n, *G.point_shape) in Montgomery form, and which scalar belongs to each.

    wires: (n,) uint32; None where scalar i belongs to point i.
    """

    points: Any
    wires: Any | None


@dataclass(frozen=True)
class HostPoints:
    """Points of a key that is larger than the device: they pass through it in every proof.

    points: as in `zkey.KeyPoints`, mapped; uploader: fetches them, for one sum at a time.
    """

    points: Points
    uploader: Uploader
    piece_bytes: int = PIECE_BYTES


def no_points(like: Points) -> Points:
    """None of such points, and nothing of their memory."""
    return np.empty((0, *like.shape[1:]), like.dtype)


def upload_points(points: Points, uploader: Uploader, run: Run) -> DevicePoints:
    """Send a section's points to the device that is active, without those at infinity unless they are few."""
    finite = _finite(points, run)
    if len(points) - len(finite) <= len(points) // FEW:
        return DevicePoints(uploader.to_device(points, run), None)
    target = new_array((len(finite), *points.shape[1:]), points.dtype)
    step = max(1, _PIECE_BYTES // points[:1].nbytes)
    for start in range(0, len(finite), step):
        piece = _take(points, finite[start : start + step], run)
        uploader.upload(target[start : start + len(piece)], piece, run)
    return DevicePoints(target, uploader.to_device(finite.astype(np.uint32), run))


def _take(points: Points, indices: NDArray[np.int64], run: Run) -> Points:
    """points[indices], by all threads; as bytes, since of unaligned words numpy would first copy all."""
    rows = points.reshape(len(points), -1).view(np.uint8)
    taken = np.empty((len(indices), rows.shape[1]), np.uint8)
    spans = chunks(len(indices), threads_of(run))
    run(np.take, [(rows, indices[start:stop], 0, taken[start:stop], "clip") for start, stop in spans])
    return taken.view(points.dtype).reshape(-1, *points.shape[1:])


def _finite(points: Points, run: Run) -> NDArray[np.int64]:
    """The numbers of the points that are not infinity, in order."""
    spans = chunks(len(points), -(-len(points) // _POINTS_AT_ONCE))
    found = run(_finite_of, [(points, *span) for span in spans])
    return np.concatenate([np.zeros(0, np.int64), *found])


def _finite_of(points: Points, start: int, stop: int) -> NDArray[np.int64]:
    words = points[start:stop].reshape(stop - start, -1)
    is_finite = words[:, 0] != 0  # all but a few of the finite ones
    unsure = np.flatnonzero(~is_finite)
    is_finite[unsure] = words[unsure].any(axis=1)
    return start + np.flatnonzero(is_finite)


def multiply_points(
    field: Field,
    group: Group,
    points: DevicePoints | HostPoints,
    scalars: Any,
    workspace: Workspace,
    run: Run,
) -> Doublings:
    """Σ scalars[wires[i]]·points[i], up to what is left for the processor.

    scalars: device, (m, 4) canonical elements of `field`, the scalars of `group`. `run` fetches points that
    are not on the device.
    """
    if isinstance(points, HostPoints):
        own = points.points, scalars, workspace, points.uploader, run, points.piece_bytes
        return Doublings(group, lift(group, msm_streamed(group, *own)), 1)
    if points.wires is not None:
        chosen = workspace.array("chosen scalars", (points.wires.shape[0], scalars.shape[1]), "uint64")
        vectors.take(field, chosen, scalars, points.wires)
        scalars = chosen
    return start_msm(group, points.points, scalars, workspace)
