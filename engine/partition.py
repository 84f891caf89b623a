"""What one partition goes through, as coroutines: they wait for threads and hold no array themselves."""

from collections.abc import Callable

from engine import diagnosis, stages
from engine.caches import Caches
from engine.circuit import OpenCircuit
from engine.loading import LoadedKey, LoadedMatrices
from engine.outputs import Outputs
from engine.pools import Pools
from engine.work import Work
from groth16.errors import VerificationFailed
from groth16.verification_key import VerificationKey
from groth16.witness_calculator import WitnessCalculator
from policy import Event, PartitionId, Proved, QuotientDone, Synthesized, Verified


class PartitionRun:
    """One partition from its first stage to its verified proof; a method returns the event it ends with."""

    def __init__(
        self,
        partition: PartitionId,
        circuit: OpenCircuit,
        outputs: Outputs,
        caches: Caches,
        pools: Pools,
        send: Callable[[Event], None],
    ) -> None:
        self.partition = partition
        self.work = Work(circuit.header)
        self._circuit, self._outputs = circuit, outputs
        self._caches, self._pools = caches, pools
        self._send = send

    async def synthesize(self) -> Event:
        """Witness, then a, b and c."""
        circuit, work = self._circuit, self.work
        compute = circuit.witness_source(self._calculator())
        await self._pools.blocking(stages.witness, work, compute)
        del compute
        matrices = self._caches.get(circuit.pce_key, LoadedMatrices).matrices
        run = self._pools.synthesis(work.stop.is_set)
        await self._pools.blocking(stages.synthesize, work, matrices, run)
        return Synthesized(self.partition)

    async def prove(self) -> Event:
        """Quotient, proof, and the check by pairing; tells of each on the way."""
        work, run = self.work, self._pools.proving(self.work.stop.is_set)
        domain = self._caches.get(self._circuit.pce_key, LoadedMatrices).domain
        await self._pools.blocking(stages.quotient, work, domain, run)
        del domain  # the policy may evict it once the proof is there
        self._send(QuotientDone(self.partition))
        key = self._caches.get(self._circuit.srs_key, LoadedKey)
        verification_key = key.verification_key
        await self._pools.blocking(stages.prove, work, key.proving_key, run)
        del key  # the policy may evict it from here on
        self._send(Proved(self.partition))
        await self._verify(verification_key)
        return Verified(self.partition)

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
