"""How kernels are declared and spread over a device."""

from collections.abc import Callable, Iterator
from typing import Any

from numba import config, cuda

from kernels.fields import Field, QuadraticField

SIMULATED = bool(config.ENABLE_CUDASIM)
THREADS = 4 if SIMULATED else 128  # of a block; the simulator starts a Python thread for each

if SIMULATED:
    kernel: Callable[..., Any] = cuda.jit
    device: Callable[..., Any] = cuda.jit(device=True)
else:
    from cuda.core import LEGACY_DEFAULT_STREAM, LaunchConfig
    from cuda.core import launch as launch_compiled

    from kernels.cuda.tokens import TokenArguments

    kernel = cuda.jit(cache=True, extensions=[TokenArguments()])
    device = cuda.jit(device=True, cache=True)

_compiled: dict[tuple[Any, ...], Any] = {}


def launch(function: Any, n: int, *arguments: Any) -> None:
    """Runs a kernel with at least n threads; each looks itself whether it has work."""
    if n > 0:
        launch_blocks(function, -(-n // THREADS), THREADS, *arguments)


def launch_blocks(function: Any, blocks: int, threads: int, *arguments: Any) -> None:
    """Runs a kernel on blocks of threads; arguments: tokens, device arrays, ints, bools and tuples of ints.

    numba's own launch looks so closely at every argument that it takes longer than many a kernel runs: 42 µs,
    and 20 µs here.
    """
    if SIMULATED:
        function[blocks, threads](*arguments)
        return
    key = (function, cuda.get_current_device().id, *map(_kind, arguments))
    compiled = _compiled.get(key)
    if compiled is None:
        kinds = tuple(function.typeof_pyval(each) for each in arguments)
        compiled = _compiled[key] = function.compile(kinds)._codelibrary.get_cufunc().kernel
    parameters = [word for each in arguments for word in _parameters(each)]
    launch_compiled(LEGACY_DEFAULT_STREAM, LaunchConfig(grid=blocks, block=threads), compiled, *parameters)


def _kind(argument: Any) -> Any:
    """What decides how a kernel is compiled for an argument."""
    if isinstance(argument, (Field, QuadraticField)):
        return argument
    if isinstance(argument, tuple):
        return len(argument)
    shape = getattr(argument, "shape", None)
    return type(argument) if shape is None else (len(shape), argument.dtype)


def _parameters(argument: Any) -> Iterator[Any]:
    """An argument as the compiled kernel takes it: a token is a null pointer, an array numba's descriptor."""
    if isinstance(argument, (Field, QuadraticField)):
        yield 0
    elif isinstance(argument, tuple):
        yield from argument
    elif hasattr(argument, "shape"):
        yield from (0, 0, argument.size, argument.dtype.itemsize)
        yield argument.__cuda_array_interface__["data"][0]
        yield from argument.shape
        yield from argument.strides
    else:
        yield argument
