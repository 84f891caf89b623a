"""The DAG of one proof: load → for each partition synthesize → prove → verify → assemble.

The engine runs by itself; here a task begins when its stage has begun. So the bars in the UI are the real
times, and a proof that waits for memory occupies neither a task nor a thread.
"""

import asyncio

import engine
from engine import ProofRequest, ProofResult
from tasks.follow import Ended
from tasks.key import Key
from tasks.load import load
from tasks.prove import prove
from tasks.synthesize import synthesize
from tasks.verify import assemble, verify


async def follow_proof(proof_id: str, request: ProofRequest) -> ProofResult:
    """Follow a submitted proof to its end; ProofFailed or ProofCancelled where no proof comes of it."""
    current, proof = engine.current(), Key(proof_id, request.name)
    await current.wait_started(proof_id, "load")
    loaded = await load(proof)
    ends = await asyncio.gather(
        *(_follow_partition(key, loaded) for key in partition_keys(proof_id, request)),
        return_exceptions=True,  # so that every task has ended before the first failure goes on
    )
    for end in ends:
        if isinstance(end, BaseException):
            raise end
    await assemble(proof, wait_for=ends)
    return await current.result(proof_id)


def partition_keys(proof_id: str, request: ProofRequest) -> list[Key]:
    """The proof's partitions by name: "merkle #2 [1/3]", or as the proof where it has only one."""
    count = request.partitions or request.circuit.partitions
    if count == 1:
        return [Key(proof_id, request.name)]
    return [Key(proof_id, f"{request.name} [{index + 1}/{count}]", index) for index in range(count)]


async def _follow_partition(key: Key, loaded: Ended) -> Ended:
    """The partition's tasks, one after the other; what is given as `wait_for` is an edge of the DAG."""
    current = engine.current()
    await current.wait_started(key.proof_id, "synthesize", key.partition)
    synthesized = await synthesize(key, wait_for=[loaded])
    await current.wait_started(key.proof_id, "prove", key.partition)
    proved = await prove(key, wait_for=[synthesized])
    await current.wait_started(key.proof_id, "verify", key.partition)
    return await verify(key, wait_for=[proved])
