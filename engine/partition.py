"""What one partition goes through, as coroutines: they wait for threads and hold no array themselves."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from config import TimeoutsConfig
from engine import diagnosis, stages
from engine.caches import Caches
from engine.circuit import OpenCircuit
from engine.errors import StageTimeout
from engine.freeing import clear_frames
from engine.in_flight import InFlight
from engine.loading import LoadedKey, LoadedMatrices
from engine.outputs import Outputs
from engine.pools import Pools
from engine.proofs import Stage
from engine.work import Work
from groth16.errors import VerificationFailed
from groth16.verification_key import VerificationKey
from groth16.witness_calculator import WitnessCalculator
from kernels.stop_flag import StopFlag
from policy import Event, Measured, PartitionId, Proved, QuotientDone, Synthesized, Verified

log = logging.getLogger("cuzk.engine")


class PartitionRun:
    """One partition from its first stage to its verified proof; a method returns the event it ends with."""

    def __init__(
        self,
        partition: PartitionId,
        circuit: OpenCircuit,
        outputs: Outputs,
        caches: Caches,
        pools: Pools,
        timeouts: TimeoutsConfig,
        send: Callable[[Event], None],
    ) -> None:
        self.partition = partition
        self.work = Work(circuit.header)
        self._circuit, self._outputs = circuit, outputs
        self._caches, self._pools = caches, pools
        self._timeouts, self._send = timeouts, send

    async def synthesize(self) -> Event:
        """Witness, then a, b and c."""
        circuit, work = self._circuit, self.work
        with limited("synthesize", self._timeouts.synthesize, work.stop):
            compute = circuit.witness_source(self._calculator(), work.stop)
            run = self._pools.synthesis(work.stop.is_set)
            await self._pools.blocking(stages.witness, work, compute, run)
            del compute
            await self._evaluate()
        return Synthesized(self.partition)

    async def prove(self, in_flight: InFlight) -> Event:
        """Quotient, proof, and the check by pairing; tells of each on the way.

        One that runs out of memory while others prove is tried again with fewer of them.
        """
        verification_key = self._caches.get(self._circuit.srs_key, LoadedKey).verification_key
        with limited("prove", self._timeouts.prove, self.work.stop):
            while not await self._has_proved(in_flight):
                pass
        self._send(Measured(self.partition, self.work.measured_bytes))
        self._send(Proved(self.partition))
        with limited("verify", self._timeouts.verify, self.work.stop):
            await self._verify(verification_key)
        return Verified(self.partition)

    async def _has_proved(self, in_flight: InFlight) -> bool:
        """Whether the proof is there now; if not, there was not enough memory for so many at once."""
        async with in_flight.turn(self.work.stop):
            try:
                await self._make_quotient()
                await self._make_proof()
            except MemoryError as error:
                if not in_flight.lower():
                    raise
                clear_frames(error)
                text = "%s ran out of memory beside %d others; it is tried again, with at most %d at once"
                log.warning(text, self.partition, in_flight.count - 1, in_flight.limit)
                return False
        return True

    async def _make_quotient(self) -> None:
        work = self.work
        if work.scalars is not None:  # made before the memory was short
            return
        if work.evaluations is None:  # they were used up
            await self._evaluate()
        domain = self._caches.get(self._circuit.pce_key, LoadedMatrices).domain
        await self._pools.blocking(stages.quotient, work, domain, self._pools.proving(work.stop.is_set))
        self._send(QuotientDone(self.partition))

    async def _make_proof(self) -> None:
        key = self._caches.get(self._circuit.srs_key, LoadedKey).proving_key
        run = self._pools.proving(self.work.stop.is_set)
        await self._pools.blocking(stages.prove, self.work, key, run)

    async def _evaluate(self) -> None:
        matrices = self._caches.get(self._circuit.pce_key, LoadedMatrices).matrices
        run = self._pools.synthesis(self.work.stop.is_set)
        await self._pools.blocking(stages.synthesize, self.work, matrices, run)

    async def _verify(self, verification_key: VerificationKey) -> None:
        work = self.work
        try:
            await self._pools.blocking(stages.verify, work, verification_key)
        except VerificationFailed as error:
            raise await self._pools.blocking(diagnosis.explain, self._circuit, error) from error
        assert work.proof is not None, "a verified proof is there"
        await self._pools.blocking(self._outputs.write, self.partition.index, work.proof, work.public)

    def _calculator(self) -> WitnessCalculator | None:
        key = self._circuit.calculator_key
        return None if key is None else self._caches.get(key, WitnessCalculator)


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
