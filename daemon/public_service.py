"""The public protocol, `cuzk.v1.ProvingEngine`, on this daemon's jobs."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from typing import Any

from daemon import kinds
from daemon.answers import answered
from daemon.book import Book, refuse_name
from daemon.circuits import Circuits
from daemon.jobs import Ask, Job, with_digest
from daemon.metrics import metrics_text
from daemon.proto.cuzk.v1 import proving_pb2 as pb
from daemon.proto.cuzk.v1.proving_pb2_grpc import ProvingEngineServicer
from engine import Engine
from engine.circuit import open_circuit
from groth16.proof_bytes import proof_bytes
from policy import Priority

Response = pb.AwaitProofResponse
STATUSES = {"done": Response.COMPLETED, "failed": Response.FAILED, "cancelled": Response.CANCELLED}
PRIORITIES = {1: Priority.LOW, 2: Priority.NORMAL, 3: Priority.HIGH, 4: Priority.CRITICAL}


class PublicService(ProvingEngineServicer):
    """Messages are those of proving.proto."""

    def __init__(self, engine: Engine, book: Book, circuits: Circuits) -> None:
        self._engine, self._book, self._circuits = engine, book, circuits
        self._started_s = time.monotonic()

    @answered
    async def SubmitProof(self, request: pb.SubmitProofRequest, _context: Any) -> pb.SubmitProofResponse:
        job = await self._submit(request)
        return pb.SubmitProofResponse(job_id=job.id, queue_position=self._book.shelf.position(job))

    @answered
    async def AwaitProof(self, request: pb.AwaitProofRequest, _context: Any) -> pb.AwaitProofResponse:
        job = await self._book.shelf.find(request.job_id)
        return await self._awaited(job, request.timeout_ms / 1000 if request.timeout_ms else None)

    @answered
    async def Prove(self, request: pb.ProveRequest, _context: Any) -> pb.ProveResponse:
        job = await self._submit(request.submit)
        return pb.ProveResponse(result=await self._awaited(job, None))

    @answered
    async def CancelProof(self, request: pb.CancelProofRequest, _context: Any) -> pb.CancelProofResponse:
        job = await self._book.shelf.find(request.job_id)
        was_running = job.state == "running"
        self._book.runs.cancel(job)
        return pb.CancelProofResponse(was_running=was_running)

    @answered
    async def GetStatus(self, _request: pb.GetStatusRequest, _context: Any) -> pb.GetStatusResponse:
        engine, ended = self._engine, self._book.runs.ended
        return pb.GetStatusResponse(
            gpus=self._gpus(),
            loaded_srs=await asyncio.to_thread(self._loaded_srs),
            queues=self._queues(),
            total_proofs_completed=ended["done"],
            total_proofs_failed=ended["failed"],
            uptime_seconds=int(time.monotonic() - self._started_s),
            pinned_memory_bytes=engine.reserved_bytes,
            pinned_memory_limit_bytes=engine.limits.budget_bytes,
        )

    @answered
    async def GetMetrics(self, _request: pb.GetMetricsRequest, _context: Any) -> pb.GetMetricsResponse:
        return pb.GetMetricsResponse(prometheus_text=metrics_text(self._engine, self._book))

    @answered
    async def PreloadSRS(self, request: pb.PreloadSrsRequest, _context: Any) -> pb.PreloadSrsResponse:
        name = self._named(request.circuit_id)
        if self._loaded_bytes(name):
            return pb.PreloadSrsResponse(already_loaded=True)
        started_s = time.monotonic()
        ask = Ask(name, kind=name, name=f"{name} (preload)", until="load")
        job, _ = await self._book.submit(await with_digest(ask, None), None)
        await self._book.waits.wait_for_end(job)
        return pb.PreloadSrsResponse(load_time_ms=round(1000 * (time.monotonic() - started_s)))

    @answered
    async def EvictSRS(self, request: pb.EvictSrsRequest, _context: Any) -> pb.EvictSrsResponse:
        name = self._named(request.circuit_id)
        if not self._loaded_bytes(name):
            return pb.EvictSrsResponse(was_loaded=False)
        freed_bytes = self._engine.unload(await self._circuits.ready(name))
        return pb.EvictSrsResponse(was_loaded=True, freed_bytes=freed_bytes)

    async def _submit(self, request: pb.SubmitProofRequest) -> Job:
        name = kinds.circuit_of(request.proof_kind, request.sector_size, self._circuits.kinds)
        kinds.refuse_vanilla(request.vanilla_proof)
        data = request.vanilla_proof or None
        ask = Ask(
            name,
            kind=kinds.kind_id(request.proof_kind, request.sector_size),
            request_id=refuse_name("request_id", request.request_id),
            name=f"{name} {request.request_id}".strip(),
            priority=PRIORITIES.get(request.priority),
        )
        job, _ = await self._book.submit(await with_digest(ask, data), data)
        return job

    async def _awaited(self, job: Job, timeout_s: float | None) -> pb.AwaitProofResponse:
        if not await self._book.waits.wait(job, timeout_s):
            return Response(job_id=job.id, status=Response.TIMEOUT)
        end = job.end
        assert end is not None, "a job that was waited for has ended"
        proof = b""
        if end.state == "done":
            proof = proof_bytes([proof for proof, _ in await self._book.files(job)])
        times = end.timings
        await self._book.delivered(job)
        return Response(
            job_id=job.id,
            status=STATUSES[end.state],
            proof=proof,
            error_message=end.error,
            queue_wait_ms=round(1000 * times.queue_s),
            srs_load_ms=round(1000 * times.load_s),
            synthesis_ms=round(1000 * times.synthesize_s),
            gpu_compute_ms=round(1000 * times.prove_s),
            total_ms=round(1000 * times.total_s),
        )

    def _named(self, circuit_id: str) -> str:
        """The circuit of that name, or the one that is configured for that kind."""
        name = self._circuits.kinds.get(circuit_id, circuit_id)
        self._circuits.find(name)
        return name

    def _loaded_bytes(self, name: str) -> int:
        """What lies in memory of a circuit; 0 where something is missing."""
        if not self._circuits.is_ready(name):
            return 0
        opened = open_circuit(self._circuits.made_ready(name))
        sizes = {entry.key: entry.size_bytes for entry in self._engine.entries() if not entry.loading}
        keys = [entry.key for entry in opened.shape.entries]
        return sum(sizes[key] for key in keys) if sizes.keys() >= set(keys) else 0

    def _loaded_srs(self) -> list[pb.SRSStatus]:
        entries = {entry.key: entry for entry in self._engine.entries()}
        found = []
        for name in self._circuits.names():
            if not self._circuits.is_ready(name):
                continue
            entry = entries.get(open_circuit(self._circuits.made_ready(name)).srs_key)
            if entry is not None and not entry.loading:
                found.append(
                    pb.SRSStatus(
                        circuit_id=name,
                        tier=pb.SRSStatus.HOT,
                        size_bytes=entry.size_bytes,
                        ref_count=entry.users,
                    )
                )
        return found

    def _queues(self) -> list[pb.QueueStatus]:
        counts: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
        for job in self._book.shelf.open_jobs:
            counts[job.ask.kind][job.state == "running"] += 1
        return [
            pb.QueueStatus(proof_kind=kind, pending=pending, in_progress=running)
            for kind, (pending, running) in sorted(counts.items())
        ]

    def _gpus(self) -> list[pb.GPUStatus]:
        held = {use.device: use for use in self._engine.devices_use()}
        devices = [device for device in self._engine.limits.devices if device.memory_bytes is not None]
        return [
            pb.GPUStatus(
                ordinal=index,
                name=device.name,
                vram_total_bytes=device.memory_bytes or 0,
                vram_free_bytes=(device.memory_bytes or 0)
                - (held[device.name].reserved_bytes if device.name in held else 0),
            )
            for index, device in enumerate(devices)
        ]
