"""A batch's proofs in the engine of a daemon, which keeps all state: here is only what is shown and recorded.

Speaks like `engine.Engine`, as far as a batch and its tasks ask. The daemon ends a job once nobody has waited
for it for LEASE_S, so that nothing is left of a run that was killed.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from daemon.client import Client
from daemon.errors import DaemonError, QueueFull, Refused, Unavailable
from daemon.proto.cuzk_py.v1 import circuits_pb2 as pb
from engine import CircuitSpec, EngineError, ProofCancelled, ProofFailed, ProofRequest, ProofResult
from engine.outputs import Outputs
from engine.proofs import Bar, Progress, Stage, StageSummary
from flows.proving.daemon_record import DaemonRecord

log = logging.getLogger("cuzk.flows")

LEASE_S = 60.0
STAGES: dict[int, Stage] = {
    pb.LOAD: "load",
    pb.SYNTHESIZE: "synthesize",
    pb.PROVE: "prove",
    pb.VERIFY: "verify",
}


@dataclass(eq=False)
class _Proof:
    request: ProofRequest
    outputs: Outputs
    progress: Progress
    job_id: str = ""
    why: str = "is on its way to the daemon"
    details: dict[Stage, str] = field(default_factory=dict)
    task: "asyncio.Task[None] | None" = None
    lost: DaemonError | None = None  # what concerns all proofs


class DaemonEngine:
    """Use as `async with`; on leaving, what is unfinished is cancelled on the daemon, too."""

    def __init__(self, client: Client, record: DaemonRecord, partitions: int) -> None:
        self._client, self._record, self._partitions = client, record, partitions
        self._proofs: dict[str, _Proof] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        left = [proof for proof in self._proofs.values() if not proof.progress.ended]
        for proof_id in [each for each, proof in self._proofs.items() if proof in left]:
            self.cancel(proof_id)
        await asyncio.gather(*(proof.task for proof in left if proof.task), return_exceptions=True)
        for proof in left:
            proof.progress.end(ProofCancelled(f"{proof.request.name}: cancelled"))
        self._record.ended(error)

    def submit(self, request: ProofRequest) -> str:
        """Send a proof's job on its way to the daemon, and return the proof's id. Raises Rejected."""
        partitions = request.partitions or self._partitions
        progress = Progress(request.name, partitions)
        proof_id = self._record.submitted(request, partitions, progress)
        assert request.output_dir is not None, "a batch has a folder"
        outputs = Outputs(request.output_dir, partitions, proof_id)
        outputs.prepare()
        proof = self._proofs[proof_id] = _Proof(request, outputs, progress)
        proof.task = asyncio.create_task(self._follow(proof_id, proof))
        return proof_id

    async def result(self, proof_id: str) -> ProofResult:
        """The proof, in its files. Raises ProofFailed, ProofCancelled, and DaemonError without a daemon."""
        proof = self._proofs[proof_id]
        try:
            await proof.progress.wait_ended()
        except EngineError:
            if proof.lost is not None:
                raise proof.lost from None
            raise
        paths = [proof.outputs.paths(index) for index in range(proof.progress.partitions)]
        return ProofResult(
            proof_id,
            proof.request.name,
            proof_paths=tuple(path for path, _ in paths),
            public_paths=tuple(path for _, path in paths),
            stage_seconds=proof.progress.stage_seconds(),
        )

    def cancel(self, proof_id: str) -> None:
        """End the proof; nothing happens where it has ended."""
        proof = self._proofs[proof_id]
        if proof.task is not None and not proof.progress.ended:
            proof.task.cancel()

    def forget(self, proof_id: str) -> None:
        """Keep nothing of a proof that has ended."""
        del self._proofs[proof_id]

    def has_ended(self, proof_id: str) -> bool:
        return proof_id not in self._proofs or self._proofs[proof_id].progress.ended

    async def wait_started(self, proof_id: str, stage: Stage, partition: int = 0) -> None:
        await self._proofs[proof_id].progress.wait_started(stage, partition)

    async def wait_finished(self, proof_id: str, stage: Stage, partition: int = 0) -> StageSummary:
        proof = self._proofs[proof_id]
        seconds = await proof.progress.wait_finished(stage, partition)
        return StageSummary(seconds, proof.details.get(stage, ""))

    def has_started(self, proof_id: str, stage: Stage, partition: int = 0) -> bool:
        return self._proofs[proof_id].progress.has_started(stage, partition)

    def has_finished(self, proof_id: str, stage: Stage, partition: int = 0) -> bool:
        return self._proofs[proof_id].progress.has_finished(stage, partition)

    def times_s(self, proof_id: str, bar: Bar, partition: int = 0) -> tuple[float, float] | None:
        return self._proofs[proof_id].progress.times_s(bar, partition, self._record.now_s())

    def waited_s(self, proof_id: str, partition: int = 0) -> float:
        return self._proofs[proof_id].progress.waited_s(partition)

    def explain(self, proof_id: str, partition: int = 0) -> str:
        """As the daemon last said."""
        return f"{proof_id}[{partition}] {self._proofs[proof_id].why}"

    def shown_by(self, proof_id: str, stage: Stage, partition: int, task_run_id: str) -> None:
        self._record.shown_by(proof_id, stage, partition, task_run_id)

    async def _follow(self, proof_id: str, proof: _Proof) -> None:
        """Until the job has ended, well or not; what that is, the proof's progress tells."""
        error: EngineError | None
        try:
            error = await self._prove(proof_id, proof)
        except asyncio.CancelledError:
            await self._cancel_there(proof)
            error = ProofCancelled(f"{proof.request.name}: cancelled")
        except Refused as refusal:
            error = ProofFailed(f"{proof.request.name}: {refusal}")
        except DaemonError as lost:
            proof.lost, error = lost, ProofFailed(f"{proof.request.name}: {lost}")
        except Exception as wrong:
            log.error("%s", proof.request.name, exc_info=wrong)
            error = ProofFailed(f"{proof.request.name}: {type(wrong).__name__}: {wrong}")
            error.__cause__ = wrong
        proof.outputs.discard()
        self._record.proof_ended(proof_id, proof.outputs.last, error)
        proof.progress.end(error)

    async def _prove(self, proof_id: str, proof: _Proof) -> EngineError | None:
        proof.job_id = await self._submitted(proof_id, proof.request)
        accepted_s = self._record.now_s()
        async for event in self._client.watch(proof.job_id):
            if event.stage != pb.STAGE_UNSPECIFIED:
                self._happened(proof_id, proof, event, accepted_s + event.at_s)
            elif event.HasField("result"):
                return await self._taken(proof, event.result)
            elif event.detail:
                proof.why = event.detail.partition(": ")[2] or event.detail
        raise Unavailable(f"the daemon at {self._client.address} told no end of job {proof.job_id}")

    async def _submitted(self, proof_id: str, request: ProofRequest) -> str:
        source = await asyncio.to_thread(_source, request.circuit)
        while True:
            try:
                return await self._client.submit(
                    request.circuit.name,
                    **source,
                    request_id=proof_id,
                    priority="" if request.priority is None else request.priority.name.lower(),
                    due=request.due,
                    partitions=request.partitions or 0,
                    lease_s=LEASE_S,
                    name=request.name,
                )
            except QueueFull as full:
                await asyncio.sleep(full.retry_after_s)

    def _happened(self, proof_id: str, proof: _Proof, event: pb.JobEvent, at_s: float) -> None:
        stage = STAGES[event.stage]
        if event.finished:
            proof.progress.finish(stage, event.partition, at_s)
            proof.details[stage] = event.detail
        else:
            proof.progress.start(stage, event.partition, at_s)
            proof.why = {"load": "is loading", "verify": "is being verified"}.get(stage, f"is at {stage}")
        self._record.happened(proof_id, stage, event.partition, event.finished, at_s, event.device)

    async def _taken(self, proof: _Proof, result: pb.JobResult) -> EngineError | None:
        """Write the proofs that came, or say why there are none."""
        if result.state == pb.CANCELLED:
            return ProofCancelled(f"{proof.request.name}: cancelled on the daemon")
        if result.state != pb.DONE:
            return ProofFailed(result.error)
        await asyncio.to_thread(_write, proof.outputs, result)
        return None

    async def _cancel_there(self, proof: _Proof) -> None:
        if proof.job_id:
            try:
                await self._client.cancel(proof.job_id)
            except DaemonError as error:  # its lease ends by itself
                log.warning("%s: %s", proof.request.name, error)


def _source(circuit: CircuitSpec) -> dict[str, Any]:
    """What the client is to send; nothing where the daemon has the circuit's own. Blocks."""
    read: Callable[[Path], bytes] = Path.read_bytes
    if circuit.witness is not None and circuit.witness != OWN:
        return {"witness": read(circuit.witness)}
    if circuit.inputs is not None and circuit.inputs != OWN:
        return {"inputs": read(circuit.inputs)}
    return {}


OWN = Path("the daemon's own")
"""In a CircuitSpec, in place of files that only the daemon has."""


def _write(outputs: Outputs, result: pb.JobResult) -> None:
    for index, part in enumerate(result.partitions):
        outputs.write_bytes(index, part.proof_json, part.public_json)
    outputs.publish()
