"""The end of a process that used GPUs."""

import subprocess
import sys

USES_ALL = """
import numpy as np
from numba import cuda
from kernels.cuda.device import Device

@cuda.jit
def double(values):
    values[cuda.threadIdx.x] *= 2

for ordinal in range(len(cuda.gpus)):
    with Device(ordinal).active():
        values = cuda.to_device(np.arange(4))
        double[1, 4](values)
        print(values.copy_to_host().tolist())
"""


def test_a_process_that_used_all_gpus_ends_in_good_order():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", USES_ALL], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split("\n")) == {"[0, 2, 4, 6]", ""}
