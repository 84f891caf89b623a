"""Checksums of arrays that are kept in files, block by block, so that threads share the work."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.parallel import Run

_BLOCK_BYTES = 1 << 22  # that one thread checks at a time


def block_checksums(arrays: Sequence[NDArray[Any]], run: Run) -> NDArray[np.uint32]:
    """CRC-32 of each 4 MiB of each array. Of mapped arrays this also brings the files' pages into memory."""
    views = [array.reshape(-1).view(np.uint8) for array in arrays]
    blocks = [view[at : at + _BLOCK_BYTES] for view in views for at in range(0, len(view), _BLOCK_BYTES)]
    return np.array(run(zlib.crc32, [(block,) for block in blocks]), np.uint32)
