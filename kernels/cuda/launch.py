"""How kernels are declared and spread over a device."""

from collections.abc import Callable
from typing import Any

from numba import config, cuda

SIMULATED = bool(config.ENABLE_CUDASIM)
THREADS = 4 if SIMULATED else 128  # of a block; the simulator starts a Python thread for each

if SIMULATED:
    kernel: Callable[..., Any] = cuda.jit
    device: Callable[..., Any] = cuda.jit(device=True)
else:
    from kernels.cuda.tokens import TokenArguments

    kernel = cuda.jit(cache=True, extensions=[TokenArguments()])
    device = cuda.jit(device=True, cache=True)


def launch(function: Any, n: int, *arguments: Any) -> None:
    """Runs a kernel with at least n threads; each looks itself whether it has work."""
    if n > 0:
        function[-(-n // THREADS), THREADS](*arguments)
