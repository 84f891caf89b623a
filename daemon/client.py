"""A client of a daemon: for batches, benchmarks and flows of this program.

    async with connect("http://127.0.0.1:9820") as client:
        job_id = await client.submit("merkle")
        result = await client.result(job_id)

What the daemon says against something is raised as a DaemonError of one line. A daemon that is away for some
seconds, as for an upgrade, is waited for.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc

from daemon.address import parse_address
from daemon.answers import as_ours
from daemon.asking import request
from daemon.calls import Calls
from daemon.errors import DaemonError, NotConfigured, Unavailable
from daemon.proto.cuzk.v1 import proving_pb2
from daemon.proto.cuzk_py.v1 import circuits_pb2 as pb
from daemon.reaching import why_not
from daemon.security import BEARER, read_secret, read_token
from daemon.server import MESSAGE_BYTES
from daemon.version import PROTOCOL, code_version


@asynccontextmanager
async def connect(
    address: str,
    *,
    token_file: Path | None = None,
    ca: Path | None = None,
    cert: Path | None = None,
    key: Path | None = None,
    deadline_s: float = 10.0,
    silence_s: float = 20.0,
) -> AsyncIterator[Client]:
    """A client of the daemon at "HOST:PORT", "http://…", "https://…" or "unix:///PATH".

    `ca`, `cert`, `key`: PEM files for https; `deadline_s`: of each call but those that wait for a job's end;
    `silence_s`: a daemon that gives no sign of life for so long has gone, whatever waits for it.
    Raises Unavailable where nobody answers, and DaemonError where another version does.
    """
    where = parse_address(address)
    options = [
        ("grpc.max_receive_message_length", MESSAGE_BYTES),
        ("grpc.max_send_message_length", MESSAGE_BYTES),
        ("grpc.use_local_subchannel_pool", 1),  # clients of one process share no connection, and no fate
        ("grpc.initial_reconnect_backoff_ms", 200),
        ("grpc.max_reconnect_backoff_ms", 1000),
        ("grpc.min_reconnect_backoff_ms", min(5000, round(silence_s * 1000))),  # and for a connection
    ]
    if where.tls:
        parts = [None if path is None else read_secret(path, str(path)) for path in (ca, key, cert)]
        channel = grpc.aio.secure_channel(where.target, grpc.ssl_channel_credentials(*parts), options)
    else:
        channel = grpc.aio.insecure_channel(where.target, options)
    metadata: tuple[tuple[str, str], ...] = ()
    if token_file is not None:
        metadata = (("authorization", BEARER + read_token(token_file, "token_file")),)
    async with channel:
        client = Client(address, channel, metadata, deadline_s, silence_s)
        try:
            await client.check()
        except Unavailable as error:
            why = await why_not(where, ca)
            raise (Unavailable(f"no daemon's answer from {address}: {why}") if why else error) from error
        yield client


async def wait_ready(address: str, timeout_s: float, **how: Any) -> None:
    """Return once the daemon at the address answers. Raises Unavailable after that time."""
    give_up_s = time.monotonic() + timeout_s
    while True:
        try:
            async with connect(address, **how, deadline_s=2.0):
                return
        except Unavailable:
            if time.monotonic() > give_up_s:
                raise
        await asyncio.sleep(0.1)


class Client(Calls):
    """See `connect`. `version` is None of a daemon of the public protocol alone."""

    async def check(self) -> None:
        """Ask who answers. Raises DaemonError where this program would misunderstand it."""
        try:
            self.version = await self.call(self.own.GetVersion, pb.GetVersionRequest(), retry_for_s=0.0)
        except NotConfigured:
            await self.public_status()  # another's daemon, if any
            return
        assert self.version is not None
        if self.version.protocol != PROTOCOL:
            raise DaemonError(
                f"the daemon at {self.address} is version {self.version.version} (protocol "
                f"{self.version.protocol}), this is {code_version()} (protocol {PROTOCOL}); "
                "upgrade the older one"
            )

    async def circuits(self, name: str = "") -> list[pb.CircuitInfo]:
        """The circuits that the daemon proves, or that one. Raises Refused where it does not know it."""
        answer = await self.call(self.own.ListCircuits, pb.ListCircuitsRequest(name=name))
        return list(answer.circuits)

    async def submit(self, circuit: str, **options: Any) -> str:
        """A job's id, once the daemon has it for good; for the options see `daemon.asking.request`.

        With a request_id it is waited for, and asked again, for as long as a job would be.
        Raises QueueFull where it takes no more now, and Refused for what it will never take.
        """
        ask = request(circuit, **options)
        answer = await self.call(self.own.SubmitCircuit, ask, retry_for_s=self.reconnect_for_s, once=True)
        return str(answer.job_id)

    async def result(self, job_id: str, timeout_s: float | None = None) -> pb.JobResult:
        """How the job ended; after `timeout_s` how it stands."""
        ask = pb.AwaitJobRequest(job_id=job_id, timeout_ms=round((timeout_s or 0) * 1000))
        return await self.call(self.own.AwaitJob, ask, deadline_s=None, retry_for_s=self.reconnect_for_s)

    async def watch(self, job_id: str) -> AsyncIterator[pb.JobEvent]:
        """The job's events, the last with its result. Those before a lost connection are not told again."""
        told: set[tuple[int, int, bool]] = set()
        while True:
            try:
                call = self.own.WatchJob(pb.WatchJobRequest(job_id=job_id), metadata=self.metadata)
                while (event := await self.heard(call.read())) is not grpc.aio.EOF:
                    step = (event.partition, event.stage, event.finished)
                    if event.stage == pb.STAGE_UNSPECIFIED or step not in told:
                        told.add(step)
                        yield event
                return
            except grpc.aio.AioRpcError as error:
                if not isinstance(ours := as_ours(error, self.address), Unavailable):
                    raise ours from error
            await self.back_again()

    async def cancel(self, job_id: str) -> pb.CancelJobResponse:
        """End the job, whatever it is doing."""
        return await self.call(self.own.CancelJob, pb.CancelJobRequest(job_id=job_id))

    async def why(self, job_id: str = "") -> list[str]:
        """What the job's partitions do or wait for; without one, those of all that are unfinished."""
        return list((await self.call(self.own.Why, pb.WhyRequest(job_id=job_id))).lines)

    async def load(self, circuit: str, **options: Any) -> pb.JobResult:
        """Bring the circuit's key and matrices into memory."""
        return await self._to_its_end(self.own.Load, circuit, options)

    async def synthesize(self, circuit: str, **options: Any) -> pb.JobResult:
        """Make witness and constraints' values, and drop them again."""
        return await self._to_its_end(self.own.Synthesize, circuit, options)

    async def prove(self, circuit: str, **options: Any) -> pb.JobResult:
        """Submit and wait, in one call."""
        return await self._to_its_end(self.own.Prove, circuit, options)

    async def status(self) -> pb.DaemonStatus:
        """How the daemon is now."""
        call = self.own.WatchStatus(
            pb.WatchStatusRequest(once=True), metadata=self.metadata, timeout=self.deadline_s
        )
        try:
            status: pb.DaemonStatus
            async for status in call:
                return status
        except grpc.aio.AioRpcError as error:
            raise as_ours(error, self.address) from error
        raise Unavailable(f"the daemon at {self.address} went away")

    async def statuses(self, interval_s: float = 1.0) -> AsyncIterator[pb.DaemonStatus]:
        """How it is now, and again at the interval. Raises Unavailable once it is gone."""
        ask = pb.WatchStatusRequest(interval_ms=round(1000 * interval_s))
        try:
            async for status in self.own.WatchStatus(ask, metadata=self.metadata):
                yield status
        except grpc.aio.AioRpcError as error:
            raise as_ours(error, self.address) from error

    async def drain(self) -> pb.DrainResponse:
        """Have the daemon end, once what is under way has."""
        return await self.call(self.own.Drain, pb.DrainRequest())

    async def public_status(self) -> proving_pb2.GetStatusResponse:
        """Devices, keys in memory, queues."""
        return await self.call(self.public.GetStatus, proving_pb2.GetStatusRequest())

    async def submit_public(self, ask: proving_pb2.SubmitProofRequest) -> proving_pb2.SubmitProofResponse:
        """A kind of proof of the public protocol; with a request_id it may be asked again."""
        return await self.call(self.public.SubmitProof, ask, retry_for_s=self.reconnect_for_s, once=True)

    async def await_public(self, job_id: str) -> proving_pb2.AwaitProofResponse:
        """How a job of whatever daemon ended."""
        ask = proving_pb2.AwaitProofRequest(job_id=job_id)
        return await self.call(self.public.AwaitProof, ask, deadline_s=None, retry_for_s=self.reconnect_for_s)

    async def cancel_public(self, job_id: str) -> proving_pb2.CancelProofResponse:
        """End a job of whatever daemon."""
        return await self.call(self.public.CancelProof, proving_pb2.CancelProofRequest(job_id=job_id))

    async def metrics(self) -> str:
        """In Prometheus's text format."""
        return str((await self.call(self.public.GetMetrics, proving_pb2.GetMetricsRequest())).prometheus_text)

    async def preload(self, circuit_id: str) -> proving_pb2.PreloadSrsResponse:
        """Bring a circuit's key into memory."""
        ask = proving_pb2.PreloadSrsRequest(circuit_id=circuit_id)
        return await self.call(self.public.PreloadSRS, ask, deadline_s=None)

    async def evict(self, circuit_id: str) -> proving_pb2.EvictSrsResponse:
        """Let go of a circuit's key."""
        return await self.call(self.public.EvictSRS, proving_pb2.EvictSrsRequest(circuit_id=circuit_id))

    async def _to_its_end(self, method: Any, circuit: str, options: dict[str, Any]) -> pb.JobResult:
        """With a request id of its own, so that a call that is made again finds its job."""
        from db import new_id

        ask = request(circuit, **{"request_id": new_id(), **options})
        return await self.call(method, ask, deadline_s=None, retry_for_s=self.reconnect_for_s)
