"""As `sizes`, of a device with memory of its own, where the kernels are those of `kernels.cuda`."""

from __future__ import annotations

from groth16 import sizes

LEAST_DOMAIN = 8  # that a device can transform
MOST_ENTRIES = 1 << 28  # of a sum sorted at once, see `kernels.cuda.msm`
TASKS, LONGEST_RUN = 1 << 18, 512  # see `kernels.cuda.buckets`
PIECE_BYTES = 1 << 30  # of points that pass through the device, see `kernels.cuda.streamed`


def key_bytes(key: sizes.KeyCounts, streamed: bool = False) -> int:
    """The key in a device's memory: SRS, matrices and roots. Less if it has points at infinity.

    streamed: the SRS stays in host memory (see `groth16.cuda.key`), and two pieces of it are on the device.
    """
    srs_bytes = sizes.srs_bytes(key)
    on_device_bytes = min(srs_bytes, 2 * PIECE_BYTES) if streamed else srs_bytes
    return on_device_bytes + sizes.pce_bytes(key)


def is_streamed(key: sizes.KeyCounts, memory_bytes: int) -> bool:
    """Whether the key's points have to stay in host memory for a device of so much memory; 0: of enough."""
    return 0 < memory_bytes < key_bytes(key) + working_bytes(key)


def working_bytes(key: sizes.KeyCounts) -> int:
    """What a partition takes there beside the key: the witness, a, b and c, and the largest sum's memory."""
    return sizes.witness_bytes(key) + 3 * key.domain_size * sizes.SCALAR_BYTES + msm_bytes(key)


def msm_bytes(key: sizes.KeyCounts) -> int:
    """Working memory of a sum in G2 on a device, from above.

    For each scalar and window 12 bytes of digits and entries; 32 windows or fewer, but for few scalars. As
    much for each scalar once more where most are 0 or 1: the others, a quarter at most, are copied. A bucket
    for about 32 scalars in each window, with those that weigh them an eighth more, and two points for each
    task; in XYZZ coordinates, twice an affine point.
    """
    scalars = max(key.n_variables, key.domain_size, 1 << 12)
    windows = max(1, min(32, MOST_ENTRIES // scalars))
    buckets = windows * min(max(scalars // 32, 1 << 9), 1 << 21)
    tasks = max(TASKS, TASKS // 4 + windows * scalars // LONGEST_RUN)
    point_bytes = 2 * key.curve.g2.point_bytes
    return 12 * (windows + 1) * scalars + (buckets * 9 // 8 + 2 * tasks) * point_bytes
