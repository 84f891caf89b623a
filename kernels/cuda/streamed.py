"""Sums over points that stay in host memory, since they are more than a device can hold.

They pass through the device in pieces: while one is summed, the next is fetched. A bus of 50 GB/s brings
points faster than sums with long scalars use them up, so little is lost but the buckets of each piece.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
from numba import cuda

from kernels.cpu.curve import fold, lift
from kernels.cuda.device import Device
from kernels.cuda.launch import SIMULATED
from kernels.cuda.memory import Workspace
from kernels.cuda.msm import msm
from kernels.cuda.transfer import Uploader
from kernels.encoding import Limbs
from kernels.fields import Group
from kernels.parallel import Run, check_stop, chunks

PIECE_BYTES = 1 << 30  # of points; two are on the device at once


def msm_streamed(
    G: Group,
    points: Limbs,
    scalars: Any,
    workspace: Workspace,
    uploader: Uploader,
    run: Run,
    piece_bytes: int = PIECE_BYTES,
) -> Limbs:
    """Σ scalars[i]·points[i] as `msm.msm` gives it, on the device that is active.

    points: host, (n, *G.point_shape), may be mapped from a file; scalars: device, (n, 4) canonical. Takes
    twice piece_bytes there and what a sum over a piece takes. `run` copies, and is looked at for whether to
    stop.
    Raises ValueError for other shapes, OutOfDeviceMemory, DeviceLost, Stopped.
    """
    n, step = len(points), max(1, piece_bytes // G.point_bytes)
    if n <= step:
        return msm(G, uploader.to_device(points, run), scalars, workspace)
    if len(scalars) != n:
        raise ValueError(f"{len(scalars)} scalars for {n} points")
    spans = chunks(n, -(-n // step))
    buffers = [workspace.array(f"piece {k}", (step, *G.point_shape), "uint64") for k in range(2)]
    device, sums = Device(0 if SIMULATED else cuda.get_current_device().id), []

    def fetch(k: int) -> Any:
        start, stop = spans[k]
        target = buffers[k % 2][: stop - start]
        with device.active():
            uploader.upload(target, points[start:stop], run)
        return target

    with ThreadPoolExecutor(1, "fetching points") as fetcher:
        coming: Future[Any] = fetcher.submit(fetch, 0)
        for k, (start, stop) in enumerate(spans):
            check_stop(run)
            piece = coming.result()
            if k + 1 < len(spans):
                coming = fetcher.submit(fetch, k + 1)
            sums.append(msm(G, piece, scalars[start:stop], workspace))
    return fold(G, lift(G, np.stack(sums)), len(sums), 0)
