"""Arrays arrive on the device as they were; errors of the driver get a meaning."""

import numpy as np
import pytest

from kernels.cuda.device import Device
from kernels.cuda.errors import DeviceLost, OutOfDeviceMemory, naming
from kernels.cuda.transfer import BUFFER_BYTES, Uploader
from kernels.parallel import serial


@pytest.mark.parametrize("size", [0, 1, BUFFER_BYTES - 1, BUFFER_BYTES, 2 * BUFFER_BYTES + 5])
@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.uint64])
def test_an_array_arrives(size, dtype):
    items = -(-size // np.dtype(dtype).itemsize)
    source = np.random.default_rng(size).integers(0, 100, items, dtype)
    with Device(0).active():
        assert (Uploader().to_device(source, serial).copy_to_host() == source).all()


def test_an_array_at_an_odd_address_and_of_several_dimensions_arrives():
    source = np.frombuffer(bytes(range(97)), np.uint64, 12, offset=1).reshape(3, 2, 2)
    with Device(0).active():
        arrived = Uploader().to_device(source, serial)
        assert arrived.shape == source.shape
        assert (arrived.copy_to_host() == source).all()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("[2] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY", OutOfDeviceMemory),
        ("CUDA_ERROR_ILLEGAL_ADDRESS: the device loads from nowhere", DeviceLost),
        ("[719] Call to cuMemcpyDtoH results in CUDA_ERROR_LAUNCH_FAILED", DeviceLost),
        ("nothing of the driver", RuntimeError),
    ],
)
def test_errors_of_the_driver_get_a_meaning(text, kind):
    error = RuntimeError(text)
    with pytest.raises(kind, match=r"nothing|gpu7") as caught, naming("gpu7"):
        raise error
    assert error in (caught.value, caught.value.__cause__)
