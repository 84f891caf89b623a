"""What makes proofs: the processors, or a GPU as long as it can be trusted."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from engine.in_flight import InFlight
from groth16 import device_sizes
from groth16.zkey import KeyHeader
from kernels.cuda.errors import DeviceLost
from policy import Device, Limits

if TYPE_CHECKING:
    from engine.gpu import Gpu

log = logging.getLogger("cuzk.engine")

MOST_WRONG_PROOFS = 3


class ProvingDevice:
    """A device of the policy's. A GPU that is given up leaves its partitions to the processors.

    in_flight: how many partitions the processors prove at once here.
    """

    def __init__(self, device: Device) -> None:
        self.name, self.in_flight = device.name, InFlight()
        self._gpu = None if device.memory_bytes is None else _open(device.name, device.memory_bytes)
        self._wrong_proofs = 0

    def gpu_for(self, header: KeyHeader) -> Gpu | None:
        """The GPU that is to prove with this key; None: the processors are."""
        return self._gpu if header.domain_size >= device_sizes.LEAST_DOMAIN else None

    def give_up(self, why: object) -> None:
        """Use the GPU no more. What it holds stays there until the process ends."""
        if self._gpu is not None:
            log.error("%s is given up, and the processors prove in its place: %s", self.name, why)
            self._gpu = None

    def was_wrong(self, partition: object) -> None:
        """The GPU has made a proof that does not verify, of a witness whose proof by the processors does."""
        self._wrong_proofs += 1
        log.error("%s has made a wrong proof of %s, its %dth", self.name, partition, self._wrong_proofs)
        if self._wrong_proofs >= MOST_WRONG_PROOFS:
            self.give_up(f"{self._wrong_proofs} of its proofs were wrong")

    def drop(self, entry_key: str) -> None:
        """The key is evicted from host memory: it goes from the GPU's, too, which may refer to it. Blocks."""
        try:
            if self._gpu is not None:
                self._gpu.drop(entry_key)
        except DeviceLost as error:
            self.give_up(error)

    def held_bytes(self) -> int | None:
        """What lies in the GPU's memory; None where the processors prove."""
        return None if self._gpu is None else self._gpu.held_bytes()

    def close(self) -> None:
        """Give back what the GPU holds; nobody may be proving."""
        if self._gpu is not None:
            self._gpu.close()


class Devices:
    """The policy's devices by name. Raises EngineError for a GPU that cannot be used."""

    def __init__(self, limits: Limits) -> None:
        self._devices = {device.name: ProvingDevice(device) for device in limits.devices}

    def __getitem__(self, name: str) -> ProvingDevice:
        return self._devices[name]

    def evaluate(self, header: KeyHeader) -> bool:
        """Whether there is a GPU for this key, which makes a and b by itself.

        A partition that comes to processors all the same has them made there.
        """
        return any(device.gpu_for(header) is not None for device in self._devices.values())

    @property
    def have_gpus(self) -> bool:
        """Whether a GPU proves."""
        return bool(self.gpu_held_bytes())

    def drop(self, entry_key: str) -> None:
        """The key is evicted from host memory, and nobody uses it. Blocks."""
        for device in self._devices.values():
            device.drop(entry_key)

    def gpu_held_bytes(self) -> dict[str, int]:
        """What lies in each GPU's memory."""
        held = {name: device.held_bytes() for name, device in self._devices.items()}
        return {name: size_bytes for name, size_bytes in held.items() if size_bytes is not None}

    def close(self) -> None:
        """Give back what the GPUs hold; nobody may be proving."""
        for device in self._devices.values():
            device.close()


def _open(name: str, memory_bytes: int) -> Gpu:
    from engine.gpu import open_gpu  # loads CUDA

    return open_gpu(name, memory_bytes)
