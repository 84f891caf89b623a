"""What makes proofs: the processors, or a GPU as long as it can be trusted."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.in_flight import InFlight
from groth16 import device_sizes
from groth16.zkey import KeyHeader
from policy import Device, Limits

if TYPE_CHECKING:
    from engine.gpu import Gpu

log = logging.getLogger("cuzk.engine")

MOST_WRONG_PROOFS = 3


class ProvingDevice:
    """A device of the policy's. A GPU that is given up leaves its partitions to other GPUs; the last one
    leaves them to the processors in its place.

    in_flight: how many partitions the processors prove at once here. is_lost: others prove in its place.
    """

    def __init__(self, device: Device, lost: Callable[[str], bool] = lambda _: False) -> None:
        """lost: hears of it once the GPU is given up; returns whether others are left."""
        self.name, self.in_flight = device.name, InFlight()
        self._gpu = None if device.memory_bytes is None else _open(device.name, device.memory_bytes)
        self._lost, self.is_lost = lost, False
        self._wrong_proofs = self._users = 0

    @contextmanager
    def in_use(self) -> Iterator[Callable[[], bool]]:
        """Inside the block, one more partition is on its GPU; whether it is alone there, it may ask."""
        self._users += 1
        try:
            yield lambda: self._users == 1
        finally:
            self._users -= 1

    def gpu_for(self, header: KeyHeader) -> Gpu | None:
        """The GPU that is to prove with this key; None: the processors are."""
        return self._gpu if header.domain_size >= device_sizes.LEAST_DOMAIN else None

    def give_up(self, why: object) -> None:
        """Use the GPU no more; what it holds stays there until the process ends. On the event loop."""
        if self._gpu is None:
            return
        self._gpu = None
        self.is_lost = self._lost(self.name)
        who = "others prove" if self.is_lost else "the processors prove"
        log.error("%s is given up, and %s in its place: %s", self.name, who, why)

    def was_wrong(self, partition: str) -> None:
        """The GPU has made a proof that does not verify, of a witness whose proof by the processors does."""
        self._wrong_proofs += 1
        log.error("%s has made a wrong proof of %s, its %dth", self.name, partition, self._wrong_proofs)
        if self._wrong_proofs >= MOST_WRONG_PROOFS:
            self.give_up(f"{self._wrong_proofs} of its proofs were wrong")

    def evict(self, entry_key: str) -> None:
        """The policy evicts the key here: it goes before another comes. Never waits."""
        if self._gpu is not None:
            self._gpu.evict(entry_key)

    def free_evicted(self) -> None:
        """Give the memory of what was evicted back. Blocks. Raises kernels' DeviceLost."""
        if self._gpu is not None:
            self._gpu.free_evicted()

    @property
    def has_gpu(self) -> bool:
        return self._gpu is not None

    def held_bytes(self) -> int | None:
        """What lies in the GPU's memory; None where the processors prove."""
        return None if self._gpu is None else self._gpu.held_bytes()

    def close(self) -> None:
        """Give back what the GPU holds; nobody may be proving."""
        if self._gpu is not None:
            self._gpu.close()


class Devices:
    """The policy's devices by name. Raises EngineError for a GPU that cannot be used.

    tell: takes the name of a lost GPU, where another is left.
    """

    def __init__(self, limits: Limits, tell: Callable[[str], None] = lambda _: None) -> None:
        self._tell = tell
        self._devices = {device.name: ProvingDevice(device, self._lost) for device in limits.devices}

    def _lost(self, name: str) -> bool:
        others = any(device.has_gpu for device in self._devices.values())
        if others:
            self._tell(name)
        return others

    def __getitem__(self, name: str) -> ProvingDevice:
        return self._devices[name]

    def evaluate(self, header: KeyHeader) -> bool:
        """Whether there is a GPU for this key, which makes a and b by itself.

        A partition that comes to processors all the same has them made there.
        """
        return any(device.gpu_for(header) is not None for device in self._devices.values())

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
