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
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import grpc

from daemon.address import parse_address
from daemon.answers import as_ours
from daemon.errors import DaemonError, NotConfigured, Refused, Silent, Unavailable
from daemon.proto.cuzk.v1 import proving_pb2
from daemon.proto.cuzk.v1.proving_pb2_grpc import ProvingEngineStub
from daemon.proto.cuzk_py.v1 import circuits_pb2 as pb
from daemon.proto.cuzk_py.v1.circuits_pb2_grpc import CircuitsStub
from daemon.security import BEARER, read_secret
from daemon.server import MESSAGE_BYTES
from daemon.version import PROTOCOL, code_version

T = TypeVar("T")

RETRY_FOR_S, RECONNECT_FOR_S = 5.0, 60.0
PAUSES_S = (0.05, 0.1, 0.2, 0.5, 1.0)
PRIORITIES = {
    "": pb.CIRCUITS_OWN,
    "low": pb.LOW,
    "normal": pb.NORMAL,
    "high": pb.HIGH,
    "critical": pb.CRITICAL,
}


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
        metadata = (("authorization", BEARER + read_secret(token_file, "token").decode().strip()),)
    async with channel:
        client = Client(address, channel, metadata, deadline_s, silence_s)
        await client.check()
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


class Client:
    """See `connect`. `version`: what the daemon tells of itself; None of one of the public protocol alone."""

    def __init__(
        self, address: str, channel: Any, metadata: Any, deadline_s: float, silence_s: float
    ) -> None:
        self.address = address
        self.public, self._own = ProvingEngineStub(channel), CircuitsStub(channel)
        self._metadata, self._deadline_s, self._silence_s = metadata, deadline_s, silence_s
        self.version: pb.GetVersionResponse | None = None
        self.reconnect_for_s = RECONNECT_FOR_S  # while a job is waited for

    async def check(self) -> None:
        """Ask who answers. Raises DaemonError where this program would misunderstand it."""
        try:
            self.version = await self._call(self._own.GetVersion, pb.GetVersionRequest(), retry_for_s=0.0)
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
        answer = await self._call(self._own.ListCircuits, pb.ListCircuitsRequest(name=name))
        return list(answer.circuits)

    async def submit(self, circuit: str, **options: Any) -> str:
        """A job's id, once the daemon has it for good; for the options see `request`.

        Raises QueueFull where it takes no more now, and Refused for what it will never take.
        """
        answer = await self._call(self._own.SubmitCircuit, request(circuit, **options), once=True)
        return str(answer.job_id)

    async def result(self, job_id: str, timeout_s: float | None = None) -> pb.JobResult:
        """How the job ended; after `timeout_s` how it stands."""
        ask = pb.AwaitJobRequest(job_id=job_id, timeout_ms=round((timeout_s or 0) * 1000))
        return await self._call(self._own.AwaitJob, ask, deadline_s=None, retry_for_s=self.reconnect_for_s)

    async def watch(self, job_id: str) -> AsyncIterator[pb.JobEvent]:
        """The job's events, the last with its result. Those before a lost connection are not told again."""
        told: set[tuple[int, int, bool]] = set()
        while True:
            try:
                call = self._own.WatchJob(pb.WatchJobRequest(job_id=job_id), metadata=self._metadata)
                while (event := await self._heard(call.read())) is not grpc.aio.EOF:
                    step = (event.partition, event.stage, event.finished)
                    if event.stage == pb.STAGE_UNSPECIFIED or step not in told:
                        told.add(step)
                        yield event
                return
            except grpc.aio.AioRpcError as error:
                if not isinstance(ours := as_ours(error, self.address), Unavailable):
                    raise ours from error
            await self._back_again()

    async def cancel(self, job_id: str) -> pb.CancelJobResponse:
        """End the job, whatever it is doing."""
        return await self._call(self._own.CancelJob, pb.CancelJobRequest(job_id=job_id))

    async def why(self, job_id: str = "") -> list[str]:
        """What the job's partitions do or wait for; without one, those of all that are unfinished."""
        return list((await self._call(self._own.Why, pb.WhyRequest(job_id=job_id))).lines)

    async def load(self, circuit: str, **options: Any) -> pb.JobResult:
        """Bring the circuit's key and matrices into memory."""
        return await self._to_its_end(self._own.Load, circuit, options)

    async def synthesize(self, circuit: str, **options: Any) -> pb.JobResult:
        """Make witness and constraints' values, and drop them again."""
        return await self._to_its_end(self._own.Synthesize, circuit, options)

    async def prove(self, circuit: str, **options: Any) -> pb.JobResult:
        """Submit and wait, in one call."""
        return await self._to_its_end(self._own.Prove, circuit, options)

    async def status(self) -> pb.DaemonStatus:
        """How the daemon is now."""
        call = self._own.WatchStatus(
            pb.WatchStatusRequest(once=True), metadata=self._metadata, timeout=self._deadline_s
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
            async for status in self._own.WatchStatus(ask, metadata=self._metadata):
                yield status
        except grpc.aio.AioRpcError as error:
            raise as_ours(error, self.address) from error

    async def drain(self) -> pb.DrainResponse:
        """Have the daemon end, once what is under way has."""
        return await self._call(self._own.Drain, pb.DrainRequest())

    async def public_status(self) -> proving_pb2.GetStatusResponse:
        """Devices, keys in memory, queues."""
        return await self._call(self.public.GetStatus, proving_pb2.GetStatusRequest())

    async def submit_public(self, ask: proving_pb2.SubmitProofRequest) -> proving_pb2.SubmitProofResponse:
        """A kind of proof of the public protocol; with a request_id it may be asked again."""
        return await self._call(self.public.SubmitProof, ask, once=True)

    async def await_public(self, job_id: str) -> proving_pb2.AwaitProofResponse:
        """How a job of whatever daemon ended."""
        ask = proving_pb2.AwaitProofRequest(job_id=job_id)
        return await self._call(self.public.AwaitProof, ask, deadline_s=None, retry_for_s=RECONNECT_FOR_S)

    async def cancel_public(self, job_id: str) -> proving_pb2.CancelProofResponse:
        """End a job of whatever daemon."""
        return await self._call(self.public.CancelProof, proving_pb2.CancelProofRequest(job_id=job_id))

    async def metrics(self) -> str:
        """In Prometheus's text format."""
        return str(
            (await self._call(self.public.GetMetrics, proving_pb2.GetMetricsRequest())).prometheus_text
        )

    async def preload(self, circuit_id: str) -> proving_pb2.PreloadSrsResponse:
        """Bring a circuit's key into memory."""
        ask = proving_pb2.PreloadSrsRequest(circuit_id=circuit_id)
        return await self._call(self.public.PreloadSRS, ask, deadline_s=None)

    async def evict(self, circuit_id: str) -> proving_pb2.EvictSrsResponse:
        """Let go of a circuit's key."""
        return await self._call(self.public.EvictSRS, proving_pb2.EvictSrsRequest(circuit_id=circuit_id))

    async def _to_its_end(self, method: Any, circuit: str, options: dict[str, Any]) -> pb.JobResult:
        """With a request id of its own, so that a call that is made again finds its job."""
        from db import new_id

        ask = request(circuit, **{"request_id": new_id(), **options})
        return await self._call(method, ask, deadline_s=None, retry_for_s=self.reconnect_for_s)

    async def _call(
        self,
        method: Callable[..., Awaitable[T]],
        ask: Any,
        deadline_s: float | None = 0.0,
        retry_for_s: float = RETRY_FOR_S,
        once: bool = False,
    ) -> T:
        """The answer. deadline_s: 0 for that of the client. once: not to be done twice, so not asked again
        without an id that tells the second from another.
        """
        give_up_s = time.monotonic() + retry_for_s
        for attempt in range(1_000_000):
            try:
                timeout_s = self._deadline_s if deadline_s == 0.0 else deadline_s
                call = method(ask, timeout=timeout_s, metadata=self._metadata)
                return await (call if timeout_s else self._heard(call))
            except grpc.aio.AioRpcError as error:
                ours = as_ours(error, self.address)
                again = isinstance(ours, Unavailable) and not (once and not ask.request_id)
                if not again or time.monotonic() > give_up_s:
                    raise ours from error
            await asyncio.sleep(PAUSES_S[min(attempt, len(PAUSES_S) - 1)])
        raise AssertionError("unreachable")

    async def _heard(self, answer: Awaitable[T]) -> T:
        """The answer, for as long as the daemon lives. Raises Unavailable once it gives no sign of that."""
        waiting = asyncio.ensure_future(answer)
        try:
            while not (await asyncio.wait({waiting}, timeout=self._silence_s / 2))[0]:
                await self._sign_of_life()
            return waiting.result()
        finally:
            waiting.cancel()

    async def _sign_of_life(self) -> None:
        try:
            await self._own.GetVersion(
                pb.GetVersionRequest(), timeout=self._silence_s / 2, metadata=self._metadata
            )
        except grpc.aio.AioRpcError as error:  # of a lost connection the answer itself will tell
            if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                where = f"; its log is {self.version.log_path}" if self.version else ""
                raise Silent(
                    f"the daemon at {self.address} has given no sign of life for {self._silence_s:g} s: "
                    f"it hangs or was stopped{where}"
                ) from error

    async def _back_again(self) -> None:
        """Return once the daemon answers again. Raises Unavailable after a while."""
        await self._call(self._own.GetVersion, pb.GetVersionRequest(), retry_for_s=self.reconnect_for_s)


def request(
    circuit: str,
    *,
    witness: bytes | None = None,
    inputs: bytes | None = None,
    request_id: str = "",
    priority: str = "",
    due: datetime | None = None,
    partitions: int = 0,
    lease_s: float = 0.0,
    name: str = "",
) -> pb.SubmitCircuitRequest:
    """What to prove: a witness (.wtns), or inputs (JSON), or the circuit's own.

    `lease_s`: it is cancelled once nobody has waited for it for so long. Raises Refused for what cannot be.
    """
    if witness is not None and inputs is not None:
        raise Refused("found a witness and inputs, expected one of both")
    if priority not in PRIORITIES:
        raise Refused(f"priority: found {priority!r}, expected one of {', '.join(filter(None, PRIORITIES))}")
    return pb.SubmitCircuitRequest(
        request_id=request_id,
        circuit=circuit,
        witness=witness,
        inputs_json=inputs,
        priority=PRIORITIES[priority],
        due_ms=0 if due is None else round(due.timestamp() * 1000),
        partitions=partitions,
        lease_ms=round(lease_s * 1000),
        name=name,
    )
