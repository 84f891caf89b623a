"""How one partition comes to its proof: on its device or, where that cannot be trusted, by the processors."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from engine import stages
from engine.caches import Caches
from engine.circuit import OpenCircuit
from engine.devices import ProvingDevice
from engine.freeing import clear_frames
from engine.in_flight import InFlight
from engine.loading import LoadedKey, LoadedMatrices
from engine.pools import Pools
from engine.retrying import retried
from engine.work import Work
from groth16.errors import VerificationFailed
from groth16.verification_key import VerificationKey
from kernels.cuda.errors import DeviceLost, OutOfDeviceMemory
from policy import Event, PartitionId, QuotientDone

if TYPE_CHECKING:
    from engine.gpu import Gpu

log = logging.getLogger("cuzk.engine")


class Proving:
    """The attempts at one partition's proof, as coroutines.

    The partition's reservation holds what the processors need until the proof is there, also while a GPU
    works. So nothing has to wait for memory when the GPU fails.
    """

    def __init__(
        self,
        partition: PartitionId,
        name: str,
        work: Work,
        circuit: OpenCircuit,
        caches: Caches,
        pools: Pools,
        send: Callable[[Event], None],
    ) -> None:
        self._partition, self._name, self._work, self._circuit = partition, name, work, circuit
        self._caches, self._pools, self._send = caches, pools, send
        self._verification_key: VerificationKey | None = None  # of the proof; the SRS may be gone by then
        self._is_verified = False

    async def evaluate(self) -> None:
        """Make a and b (and c) from the witness."""
        matrices = self._caches.get(self._circuit.pce_key, LoadedMatrices).matrices
        run = self._pools.synthesis(self._work.stop.is_set)
        await self._pools.blocking(stages.synthesize, self._work, matrices, run)

    async def prove(self, device: ProvingDevice) -> bool:
        """Make the proof, and free all else; returns whether the processors made it.

        Raises OutOfDeviceMemory, and DeviceLost where another device is to prove; then nothing has changed.
        """
        self._verification_key = self._caches.get(self._circuit.srs_key, LoadedKey).verification_key
        gpu = device.gpu_for(self._work.header)
        if device.is_lost:
            raise DeviceLost(f"{device.name} was given up")
        if gpu is None:
            await self._by_processors(device)
            return True
        try:
            await self._by_gpu_again(device, gpu)
            return False
        except DeviceLost as error:
            clear_frames(error)
            device.give_up(error)
            if device.is_lost:
                raise
            await self._by_processors(device)
        except VerificationFailed as error:  # a wrong witness, or a wrong device
            clear_frames(error)
            await self._by_processors(device)
            with suppress(VerificationFailed):  # the witness is; whoever verifies next hears of it
                await self.verify()
                device.was_wrong(self._name)
        return True

    async def verify(self) -> None:
        """Check the proof, unless it has passed. Raises VerificationFailed."""
        if not self._is_verified:
            assert self._verification_key is not None, "the proof comes first"
            await self._pools.blocking(stages.verify, self._work, self._verification_key)
            self._is_verified = True

    async def _by_gpu_again(self, device: ProvingDevice, gpu: Gpu) -> None:
        """Alone on its GPU, a partition that finds too little memory there waits for other processes' to go.

        Beside others of this process the policy has it wait for those.
        """
        with device.in_use() as is_alone:
            await retried(
                lambda: self._by_gpu(gpu),
                self._name,
                self._work.stop.is_set,
                lambda error: isinstance(error, OutOfDeviceMemory) and is_alone(),
            )

    async def _by_gpu(self, gpu: Gpu) -> None:
        """The witness stays until the proof has passed its check."""
        key = self._caches.get(self._circuit.srs_key, LoadedKey).proving_key
        matrices = self._caches.get(self._circuit.pce_key, LoadedMatrices).matrices
        run = self._pools.proving(self._work.stop.is_set)
        entry_key = self._circuit.srs_key
        await self._pools.blocking(stages.prove_on_gpu, self._work, gpu, entry_key, key, matrices, run)
        await self.verify()
        await self._pools.blocking(self._work.release().wait_until_free)

    async def _by_processors(self, device: ProvingDevice) -> None:
        """One that runs out of memory while others prove is tried again with fewer of them."""
        while not await self._has_proved(device.in_flight):
            pass

    async def _has_proved(self, in_flight: InFlight) -> bool:
        """Whether the proof is there now; if not, there was not enough memory for so many at once."""
        async with in_flight.turn(self._work.stop):
            try:
                await self._make_quotient()
                await self._make_proof()
            except MemoryError as error:
                if not in_flight.lower():
                    raise
                clear_frames(error)
                text = "%s ran out of memory beside %d others; it is tried again, with at most %d at once"
                log.warning(text, self._name, in_flight.count - 1, in_flight.limit)
                return False
        return True

    async def _make_quotient(self) -> None:
        work = self._work
        if work.scalars is not None:  # made before the memory was short
            return
        if work.evaluations is None:  # they were used up, or the device was to make them
            await self.evaluate()
        domain = self._caches.get(self._circuit.pce_key, LoadedMatrices).domain
        await self._pools.blocking(stages.quotient, work, domain, self._pools.proving(work.stop.is_set))
        self._send(QuotientDone(self._partition))

    async def _make_proof(self) -> None:
        key = self._caches.get(self._circuit.srs_key, LoadedKey).proving_key
        run = self._pools.proving(self._work.stop.is_set)
        await self._pools.blocking(stages.prove, self._work, key, run)
