"""How kernels are declared and spread over a device."""

import ctypes
from collections.abc import Callable
from struct import Struct
from typing import Any

from numba import config, cuda

from kernels.fields import Field, QuadraticField

SIMULATED = bool(config.ENABLE_CUDASIM)
THREADS = 4 if SIMULATED else 128  # of a block; the simulator starts a Python thread for each

if SIMULATED:
    kernel: Callable[..., Any] = cuda.jit
    device: Callable[..., Any] = cuda.jit(device=True)
else:
    from cuda.bindings import driver
    from numba.cuda.cudadrv.driver import CudaAPIError

    from kernels.cuda.tokens import TokenArguments

    _DYNAMIC_SHARED_BYTES = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    kernel = cuda.jit(cache=True, extensions=[TokenArguments()])
    device = cuda.jit(device=True, cache=True)


def kernel_within(registers: int) -> Callable[..., Any]:
    """As `kernel`, for one whose threads may take so many registers at most: more of them are held at once.

    Of one function may be made several, each for other types of arguments: they share what is cached.
    """
    if SIMULATED:
        return kernel
    return cuda.jit(cache=True, extensions=[TokenArguments()], max_registers=registers)


_compiled: dict[tuple[Any, ...], tuple[Any, Struct]] = {}


def launch(function: Any, n: int, *arguments: Any) -> None:
    """Runs a kernel with at least n threads; each looks itself whether it has work."""
    if n > 0:
        launch_blocks(function, -(-n // THREADS), THREADS, *arguments)


def launch_blocks(function: Any, blocks: int, threads: int, *arguments: Any, shared_bytes: int = 0) -> None:
    """Runs a kernel on blocks of threads; arguments: tokens, device arrays, ints, bools and tuples of ints.

    shared_bytes: of the kernel's shared array of size 0, which may be larger than others can be.
    Raises CudaAPIError. numba's own launch looks so closely at every argument that it takes 42 µs, more than
    many a kernel.
    """
    if SIMULATED:
        function[blocks, threads, 0, shared_bytes](*arguments)
        return
    compiled, layout = _compile(function, arguments)
    words: list[Any] = []
    for argument in arguments:
        _add_parameters(words, argument)
    packed = ctypes.create_string_buffer(layout.pack(*words), layout.size)
    size = ctypes.c_size_t(layout.size)
    # As CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE and CU_LAUNCH_PARAM_END say.
    extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(packed), 2, ctypes.addressof(size), 0)
    handle, shape = compiled.handle, (blocks, 1, 1, threads, 1, 1)
    if shared_bytes > 0:
        driver.cuKernelSetAttribute(_DYNAMIC_SHARED_BYTES, shared_bytes, handle, _device_number())
    (error,) = driver.cuLaunchKernel(handle, *shape, shared_bytes, 0, 0, ctypes.addressof(extra))
    if error != driver.CUresult.CUDA_SUCCESS:
        raise CudaAPIError(int(error), f"{function.py_func.__name__} was not launched: {error.name}")


def resident_threads(function: Any, threads: int, *arguments: Any) -> int:
    """How many threads, in blocks of `threads`, the device holds at once of a kernel with these arguments."""
    if SIMULATED:
        return 2 * threads
    occupancy = _compile(function, arguments)[0].occupancy
    blocks = occupancy.max_active_blocks_per_multiprocessor(threads, 0)
    return int(threads * blocks * cuda.get_current_device().MULTIPROCESSOR_COUNT)


def _compile(function: Any, arguments: tuple[Any, ...]) -> tuple[Any, Struct]:
    """The kernel for this kind of arguments on the current device, and how its parameters lie in memory."""
    key = (function, _device_number(), *[_kind(argument) for argument in arguments])
    found = _compiled.get(key)
    if found is None:
        kinds = tuple(function.typeof_pyval(each) for each in arguments)
        compiled = function.compile(kinds)._codelibrary.get_cufunc().kernel
        found = _compiled[key] = compiled, _layout(arguments)
    return found


def _layout(arguments: tuple[Any, ...]) -> Struct:
    """Bools take a byte, all other parameters are aligned 64-bit words."""
    words: list[Any] = []
    for argument in arguments:
        _add_parameters(words, argument)
    return Struct("@" + "".join("?" if isinstance(word, bool) else "q" for word in words))


def _device_number() -> int:
    error, number = driver.cuCtxGetDevice()  # a tenth of what numba takes, which does more only once a thread
    return int(number) if error == driver.CUresult.CUDA_SUCCESS else int(cuda.get_current_device().id)


def _kind(argument: Any) -> Any:
    """What decides how a kernel is compiled for an argument."""
    if isinstance(argument, int):
        return type(argument)
    if isinstance(argument, (Field, QuadraticField)):
        return argument
    if isinstance(argument, tuple):
        return len(argument)
    return len(argument.shape), argument.dtype


def _add_parameters(words: list[Any], argument: Any) -> None:
    """An argument as the compiled kernel takes it: a token is a null pointer, an array numba's descriptor."""
    if isinstance(argument, (Field, QuadraticField)):
        words.append(0)
    elif isinstance(argument, tuple):
        words += argument
    elif isinstance(argument, int):
        words.append(argument)
    else:
        address = argument.device_ctypes_pointer.value or 0
        words += (0, 0, argument.size, argument.dtype.itemsize, address, *argument.shape, *argument.strides)
