"""What one partition goes through, as coroutines: they wait for threads and hold no array themselves."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from config import TimeoutsConfig
from engine import diagnosis, stages
from engine.caches import Caches
from engine.circuit import OpenCircuit
from engine.devices import ProvingDevice
from engine.errors import StageTimeout
from engine.freeing import clear_frames
from engine.outputs import Contents, Outputs
from engine.pools import Pools
from engine.proofs import Stage, makes_proofs
from engine.proving import Proving
from engine.retrying import retried
from engine.work import Work
from groth16.errors import VerificationFailed
from kernels.cuda.errors import DeviceLost, OutOfDeviceMemory
from kernels.stop_flag import StopFlag
from policy import DeviceOutOfMemory, Displaced, Event, Measured, PartitionId, Proved, Synthesized, Verified

if TYPE_CHECKING:
    from groth16.witness_calculator import WitnessCalculator

log = logging.getLogger("cuzk.engine")


class PartitionRun:
    """One partition from its first stage to its verified proof; a method returns the event it ends with.

    name: for people, as warnings call it.
    """

    def __init__(
        self,
        partition: PartitionId,
        name: str,
        circuit: OpenCircuit,
        outputs: Outputs | Contents,
        caches: Caches,
        pools: Pools,
        timeouts: TimeoutsConfig,
        send: Callable[[Event], None],
        until: Stage = "verify",
    ) -> None:
        self.partition, self.name, self._until = partition, name, until
        self.work = Work(circuit.header)
        self._circuit, self._outputs = circuit, outputs
        self._caches, self._pools = caches, pools
        self._timeouts, self._send = timeouts, send
        self._proving = Proving(partition, name, self.work, circuit, caches, pools, send)

    async def synthesize(self, evaluate: bool) -> Event:
        """Witness, then a, b and c; without `evaluate` the device that proves makes them."""
        if self._until == "load":
            return Synthesized(self.partition)
        with limited("synthesize", self._timeouts.synthesize, self.work.stop):
            await self._witness()
            if evaluate or self._until == "synthesize":
                await self._proving.evaluate()
        return Synthesized(self.partition)

    async def _witness(self) -> None:
        work = self.work
        compute = self._circuit.witness_source(self._calculator(), work.stop)
        run = self._pools.synthesis(work.stop.is_set)
        await self._retried(lambda: self._pools.blocking(stages.witness, work, compute, run))

    async def prove(self, device: ProvingDevice) -> Event:
        """The proof and its check by pairing; tells of each on the way."""
        if not makes_proofs(self._until):
            await self._pools.blocking(self.work.release().wait_until_free)
            self._send(Proved(self.partition))
            return Verified(self.partition)
        try:
            with limited("prove", self._timeouts.prove, self.work.stop):
                by_processors = await self._proving.prove(device)
        except OutOfDeviceMemory as error:
            clear_frames(error)
            log.warning("%s: %s", self.name, error)
            await self._pools.blocking(self.work.release().wait_until_free)
            return DeviceOutOfMemory(self.partition)
        except DeviceLost as error:
            clear_frames(error)
            log.warning("%s goes to another device: %s", self.name, error)
            await self._pools.blocking(self.work.release().wait_until_free)
            return Displaced(self.partition)
        if by_processors:  # those have to be able to stand in for a GPU, so its partitions teach nothing
            self._send(Measured(self.partition, self.work.measured_bytes))
        self._send(Proved(self.partition))
        with limited("verify", self._timeouts.verify, self.work.stop):
            await self._verify()
        return Verified(self.partition)

    async def _verify(self) -> None:
        work = self.work
        try:
            await self._proving.verify()
        except VerificationFailed as error:
            raise await self._pools.blocking(diagnosis.explain, self._circuit, error) from error
        proof = work.proof
        assert proof is not None, "a verified proof is there"
        await self._retried(
            lambda: self._pools.blocking(self._outputs.write, self.partition.index, proof, work.public)
        )

    async def _retried(self, attempt: Callable[[], Awaitable[None]]) -> None:
        """Files that cannot be read or written now are tried again, with all else of the partition kept."""
        await retried(attempt, self.name, self.work.stop.is_set)

    def _calculator(self) -> WitnessCalculator | None:
        key = self._circuit.calculator_key
        if key is None:
            return None
        from groth16.witness_calculator import WitnessCalculator

        return self._caches.get(key, WitnessCalculator)


@contextmanager
def limited(stage: Stage, limit_s: float, stop: StopFlag) -> Iterator[None]:
    """Inside the block, the stage is asked to stop once its time is over; 0: never."""
    if not limit_s:
        yield
        return
    error = StageTimeout(
        f"{stage} took longer than timeouts.{stage}, {limit_s:g} s; allow more, or 0 for any"
    )
    timer = asyncio.get_running_loop().call_later(limit_s, stop.set, error)
    try:
        yield
    finally:
        timer.cancel()
