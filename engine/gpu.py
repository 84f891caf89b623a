"""One GPU that proves: which keys lie in its memory, and whose turn it is to compute.

Importing it loads CUDA. Several threads prove at once on a device: one computes, and owns the scratch memory
meanwhile; another sends its arrays there or turns sums into a proof.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from config import format_size
from engine.errors import EngineError
from engine.freeing import clear_frames
from groth16 import device_sizes
from groth16.cuda.key import DeviceKey, upload_key, with_points, without_points
from groth16.cuda.prover import DeviceInputs, finish, start_sums, upload_inputs
from groth16.matrices import Matrices
from groth16.prover import Sums
from groth16.synthesis import Evaluations
from groth16.witness import Witness
from groth16.zkey import ProvingKey
from kernels.cuda.device import Device
from kernels.cuda.errors import OutOfDeviceMemory
from kernels.cuda.memory import Workspace
from kernels.cuda.msm import Doublings
from kernels.cuda.transfer import Uploader
from kernels.parallel import Run, check_stop

log = logging.getLogger("cuzk.engine")

TURN_S = 0.05  # how often one who waits for its turn looks whether it is to stop
# A device is kept busy by launches that follow each other in 20 µs. Whoever else computes in Python holds
# each of them up for as long as the interpreter lets him, by default 5 ms.
SWITCH_S = 0.0005


class _Lane:
    """What a partition has for itself on the device: pinned buffers, and the arrays that it brings."""

    def __init__(self) -> None:
        self.uploader, self.arrays = Uploader(), Workspace()


@dataclass
class _Resident:
    """A key on the device. `users`: partitions that prove with it now."""

    key: DeviceKey
    size_bytes: int
    users: int = 0


class Gpu:
    """Safe to use from several threads. What it holds on the device stays within `memory_bytes`.

    Whoever proves has reserved a working set, and memory for the key, which stays until it is evicted.
    uploads: how many keys were sent so far.
    """

    def __init__(self, ordinal: int, memory_bytes: int) -> None:
        self._device, self.memory_bytes = Device(ordinal), memory_bytes
        self.name = self._device.name
        self.uploads = 0
        self._keys: dict[str, _Resident] = {}
        self._evicted: list[str] = []  # keys that are to go before anything else comes
        self._idle_lanes: list[_Lane] = []
        self._lanes: list[_Lane] = []
        self._scratch = Workspace()
        self._changing = threading.RLock()  # of keys and lanes; held while a key is sent
        self._computing = threading.Lock()

    def sums(
        self,
        entry_key: str,
        key: ProvingKey,
        matrices: Matrices,
        witness: Witness,
        evaluations: Evaluations | None,
        run: Run,
    ) -> Sums:
        """The proof's sums, of a witness and, where the host has made them, a and b.

        entry_key: names the key's content. Where memory is short, all that nobody uses is given back, and
        then it is tried once more. Raises OutOfDeviceMemory, DeviceLost, after which the device must not be
        used any more, and Stopped.
        """
        with self._device.active():
            try:
                return self._try(entry_key, key, matrices, witness, evaluations, run)
            except OutOfDeviceMemory as error:
                clear_frames(error)  # or they would keep arrays on the device
                with self._changing:
                    self._give_back_arrays()
                    self._drop_idle_keys()
            return self._try(entry_key, key, matrices, witness, evaluations, run)

    def evict(self, entry_key: str) -> None:
        """Let go of the key, with which nobody proves, before another comes. Never waits."""
        self._evicted.append(entry_key)

    def free_evicted(self) -> None:
        """Give the memory of evicted keys back. Raises DeviceLost."""
        with self._device.active(), self._changing:
            self._free_evicted()

    def holds(self, entry_key: str) -> bool:
        """Whether the key lies in the device's memory."""
        return entry_key in self._keys

    def held_bytes(self) -> int:
        """What is held on the device now, in use or not. Never waits."""
        keys_bytes = sum(each.size_bytes for each in list(self._keys.values()))
        arrays_bytes = sum(lane.arrays.held_bytes for lane in list(self._lanes))
        return keys_bytes + arrays_bytes + self._scratch.held_bytes

    def free_bytes(self) -> int:
        """Of the device's memory, by whomever it is used."""
        with self._device.active():
            return self._device.free_bytes()

    def close(self) -> None:
        """Give back everything. Nobody may be proving."""
        with self._device.active():
            self._keys.clear()
            self._lanes.clear()
            self._idle_lanes.clear()
            self._scratch.release()
            self._device.free_bytes()

    def _try(
        self,
        entry_key: str,
        key: ProvingKey,
        matrices: Matrices,
        witness: Witness,
        evaluations: Evaluations | None,
        run: Run,
    ) -> Sums:
        working_bytes = device_sizes.working_bytes(key.header)
        with self._lane() as lane, self._resident(entry_key, key, matrices, lane, run) as device_key:
            if lane.arrays.held_bytes > working_bytes:  # those of a larger partition
                lane.arrays.release()
            inputs = upload_inputs(witness, evaluations, lane.uploader, lane.arrays, run)
            sums = self._compute(device_key, inputs, run)
        return finish(sums, run)

    def _compute(self, key: DeviceKey, inputs: DeviceInputs, run: Run) -> list[Doublings]:
        while not self._computing.acquire(timeout=TURN_S):
            check_stop(run)
        try:
            return start_sums(key, inputs, self._scratch, run)
        finally:
            self._computing.release()

    @contextmanager
    def _lane(self) -> Iterator[_Lane]:
        with self._changing:
            if not self._idle_lanes:
                lane = _Lane()
                self._lanes.append(lane)
                self._idle_lanes.append(lane)
            lane = self._idle_lanes.pop()
        try:
            yield lane
        finally:
            with self._changing:
                self._idle_lanes.append(lane)

    @contextmanager
    def _resident(
        self, entry_key: str, key: ProvingKey, matrices: Matrices, lane: _Lane, run: Run
    ) -> Iterator[DeviceKey]:
        """The key on the device, sent there if need be, and not dropped inside the block."""
        streamed = device_sizes.is_streamed(key.header, self.memory_bytes)
        key_bytes = device_sizes.key_bytes(key.header, streamed)
        with self._changing:
            self._free_evicted()
            resident = self._keys.get(entry_key)
            missing_bytes = key_bytes if resident is None else 0
            self._make_room(missing_bytes + device_sizes.working_bytes(key.header), lane)
            if resident is None:
                log.info("sending %s, %s, to %s", entry_key, format_size(key_bytes), self.name)
                sent = upload_key(key, matrices, lane.uploader, run, streamed)
                resident = self._keys[entry_key] = _Resident(without_points(sent), key_bytes)
                self.uploads += 1
            resident.users += 1
        try:
            yield with_points(resident.key, key)
        finally:
            with self._changing:
                resident.users -= 1

    def _make_room(self, size_bytes: int, lane: _Lane) -> None:
        """Give back what nobody uses of arrays, unless there is room: the policy has made it for the rest."""
        if self.held_bytes() + size_bytes > self.memory_bytes:
            lane.arrays.release()
            self._give_back_arrays()
            self._device.free_bytes()

    def _free_evicted(self) -> None:
        while self._evicted:
            entry_key = self._evicted.pop(0)
            if self._keys.pop(entry_key, None) is not None:
                log.info("dropping %s from %s", entry_key, self.name)
                self._device.free_bytes()

    def _give_back_arrays(self) -> None:
        for lane in self._idle_lanes:
            lane.arrays.release()
        if self._computing.acquire(blocking=False):
            self._scratch.release()
            self._computing.release()

    def _drop_idle_keys(self) -> None:
        """The device has less memory than was thought: who needs one of them next sends it again."""
        for entry_key in [name for name, each in self._keys.items() if not each.users]:
            log.warning("dropping %s from %s, which is out of memory", entry_key, self.name)
            del self._keys[entry_key]
        self._device.free_bytes()


def open_gpu(name: str, memory_bytes: int) -> Gpu:
    """The device, after a look that it answers. Raises EngineError where it does not."""
    sys.setswitchinterval(SWITCH_S)
    gpu = Gpu(int(name.removeprefix("gpu")), memory_bytes)
    try:
        gpu.free_bytes()
    except Exception as error:
        raise EngineError(f"{name} cannot be used: {error}; see gpus.devices") from error
    return gpu
