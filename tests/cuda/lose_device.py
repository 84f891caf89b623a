"""Loses this process's device while the engine proves, in a process of its own: nothing brings it back.

python -m tests.cuda.lose_device KEY WITNESS FOLDER
"""

import asyncio
import logging
import sys
from pathlib import Path

import numpy as np
from numba import cuda

from engine import CircuitSpec, Engine, ProofRequest
from kernels.cuda import vectors
from kernels.fields import BN254
from policy import Device
from tests.engine.support import CONFIG, limits_for


def read_from_nowhere() -> None:
    """Launch a kernel that takes elements 2^40 bytes beyond an array's end."""
    array = cuda.to_device(np.zeros((8, 4), np.uint64))
    vectors.take(
        BN254.fr, cuda.to_device(np.zeros((8, 4), np.uint64)), array, cuda.to_device(np.full(8, 1 << 35))
    )


async def main(zkey: Path, witness: Path, folder: Path) -> None:
    spec = CircuitSpec("lost", zkey, witness=witness)
    async with Engine(CONFIG, limits_for(spec, 1, devices=(Device("gpu0", 1, 1 << 30),))) as running:
        for number in range(3):
            if number == 1:
                read_from_nowhere()
            await running.result(running.submit(ProofRequest(spec, str(number), folder / str(number))))


if __name__ == "__main__":
    logging.basicConfig(format="%(message)s")
    asyncio.run(main(*map(Path, sys.argv[1:])))
