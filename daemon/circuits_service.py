"""This program's own protocol, `cuzk_py.v1.Circuits`: circuits by name, stages, progress."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

from daemon.answers import answered, streamed
from daemon.book import Book, refuse_name
from daemon.circuits import Circuits
from daemon.errors import Refused
from daemon.events import follow
from daemon.jobs import Ask, Job, with_digest
from daemon.messages import STATES, as_result
from daemon.proto.cuzk_py.v1 import circuits_pb2 as pb
from daemon.proto.cuzk_py.v1.circuits_pb2_grpc import CircuitsServicer
from daemon.status import Status
from engine import Engine
from engine.proofs import Stage
from policy import Priority

PRIORITIES = {1: Priority.LOW, 2: Priority.NORMAL, 3: Priority.HIGH, 4: Priority.CRITICAL}
MOST_PARTITIONS = 10_000


class CircuitsService(CircuitsServicer):
    """Messages are those of circuits.proto. `drain` is set once a client asks for that."""

    def __init__(
        self,
        engine: Engine,
        book: Book,
        circuits: Circuits,
        status: Status,
        about: pb.GetVersionResponse,
        drain: asyncio.Event,
    ) -> None:
        self._engine, self._book, self._circuits = engine, book, circuits
        self._status, self._about, self._drain = status, about, drain

    @answered
    async def GetVersion(self, _request: pb.GetVersionRequest, _context: Any) -> pb.GetVersionResponse:
        answer = pb.GetVersionResponse()
        answer.CopyFrom(self._about)
        answer.budget_bytes = self._engine.limits.budget_bytes
        answer.queue_limit = self._book.queue_limit
        return answer

    @answered
    async def ListCircuits(self, request: pb.ListCircuitsRequest, _context: Any) -> pb.ListCircuitsResponse:
        if request.name:
            self._circuits.find(request.name)
        names = [request.name] if request.name else self._circuits.names()
        listed = [await asyncio.to_thread(self._circuits.listed, name) for name in names]
        return pb.ListCircuitsResponse(circuits=[pb.CircuitInfo(**vars(each)) for each in listed])

    @answered
    async def SubmitCircuit(
        self, request: pb.SubmitCircuitRequest, _context: Any
    ) -> pb.SubmitCircuitResponse:
        job, known = await self._submit(request, "verify")
        return pb.SubmitCircuitResponse(
            job_id=job.id, queue_position=self._book.shelf.position(job), known=known
        )

    @answered
    async def AwaitJob(self, request: pb.AwaitJobRequest, _context: Any) -> pb.JobResult:
        job = await self._book.shelf.find(request.job_id)
        return await self._awaited(job, request.timeout_ms / 1000 if request.timeout_ms else None)

    @streamed
    async def WatchJob(self, request: pb.WatchJobRequest, _context: Any) -> AsyncIterator[pb.JobEvent]:
        job = await self._book.shelf.find(request.job_id)
        self._book.waits.came(job)
        try:
            async for event in follow(job, self._book):
                yield event
            yield pb.JobEvent(
                job_id=job.id, state=STATES[job.state], at_s=job.age_s, result=await self._awaited(job, None)
            )
        finally:
            self._book.waits.left(job)

    @answered
    async def CancelJob(self, request: pb.CancelJobRequest, _context: Any) -> pb.CancelJobResponse:
        job = await self._book.shelf.find(request.job_id)
        answer = pb.CancelJobResponse(was_running=job.state == "running", had_ended=not job.is_open)
        self._book.runs.cancel(job)
        return answer

    @answered
    async def Why(self, request: pb.WhyRequest, _context: Any) -> pb.WhyResponse:
        jobs = [await self._book.shelf.find(request.job_id)] if request.job_id else self._book.shelf.open_jobs
        return pb.WhyResponse(lines=[line for job in jobs for line in self._book.runs.why(job)])

    @answered
    async def Load(self, request: pb.SubmitCircuitRequest, _context: Any) -> pb.JobResult:
        return await self._to_its_end(request, "load")

    @answered
    async def Synthesize(self, request: pb.SubmitCircuitRequest, _context: Any) -> pb.JobResult:
        return await self._to_its_end(request, "synthesize")

    @answered
    async def Prove(self, request: pb.SubmitCircuitRequest, _context: Any) -> pb.JobResult:
        return await self._to_its_end(request, "verify")

    @streamed
    async def WatchStatus(
        self, request: pb.WatchStatusRequest, _context: Any
    ) -> AsyncIterator[pb.DaemonStatus]:
        while True:
            yield self._status.message()
            if request.once:
                return
            await asyncio.sleep(max(request.interval_ms or 1000, 20) / 1000)

    @answered
    async def Drain(self, _request: pb.DrainRequest, _context: Any) -> pb.DrainResponse:
        self._drain.set()
        return pb.DrainResponse(
            running=self._book.shelf.count("running"), waiting=self._book.shelf.count("accepted")
        )

    async def _to_its_end(self, request: pb.SubmitCircuitRequest, until: Stage) -> pb.JobResult:
        job, _ = await self._submit(request, until)
        return await self._awaited(job, None)

    async def _submit(self, request: pb.SubmitCircuitRequest, until: Stage) -> tuple[Job, bool]:
        if request.partitions > MOST_PARTITIONS:
            raise Refused(f"partitions: found {request.partitions}, expected at most {MOST_PARTITIONS}")
        ask = Ask(
            refuse_name("circuit", request.circuit),
            kind=request.circuit,
            request_id=refuse_name("request_id", request.request_id),
            name=refuse_name("name", request.name),
            priority=PRIORITIES.get(request.priority),
            due=_moment(request.due_ms),
            partitions=request.partitions or None,
            until=until,
            lease_s=request.lease_ms / 1000,
        )
        source = request.WhichOneof("source")
        data: bytes | None = None if source is None else getattr(request, source)
        return await self._book.submit(await with_digest(ask, data), data)

    async def _awaited(self, job: Job, timeout_s: float | None) -> pb.JobResult:
        if not await self._book.waits.wait(job, timeout_s):
            return pb.JobResult(job_id=job.id, state=STATES[job.state])
        files = await self._book.files(job) if job.state == "done" else ()
        result = as_result(job, files)
        await self._book.delivered(job)
        return result


def _moment(due_ms: int) -> datetime | None:
    if not due_ms:
        return None
    try:
        return datetime.fromtimestamp(due_ms / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        raise Refused(f"due_ms: found {due_ms}, expected milliseconds since 1970") from None
