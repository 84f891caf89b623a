"""Calls of a daemon's methods: asked again while it is away for a moment, and not for ever where it hangs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import grpc

from daemon.answers import as_ours
from daemon.errors import Silent, Unavailable
from daemon.proto.cuzk.v1.proving_pb2_grpc import ProvingEngineStub
from daemon.proto.cuzk_py.v1 import circuits_pb2 as pb
from daemon.proto.cuzk_py.v1.circuits_pb2_grpc import CircuitsStub

T = TypeVar("T")

RETRY_FOR_S, RECONNECT_FOR_S = 5.0, 60.0
PAUSES_S = (0.05, 0.1, 0.2, 0.5, 1.0)
CLIENTS_OWN = 0.0  # as a call's deadline: that of the client


class Calls:
    """The methods of both protocols on one channel; what goes wrong is raised as a DaemonError.

    `version`: what the daemon tells of itself, once it has; `reconnect_for_s`: while a job is waited for.
    """

    def __init__(
        self, address: str, channel: Any, metadata: Any, deadline_s: float, silence_s: float
    ) -> None:
        self.address = address
        self.public, self.own = ProvingEngineStub(channel), CircuitsStub(channel)
        self.metadata, self.deadline_s = metadata, deadline_s
        self.version: pb.GetVersionResponse | None = None
        self.reconnect_for_s = RECONNECT_FOR_S
        self._silence_s = silence_s

    async def call(
        self,
        method: Callable[..., Awaitable[T]],
        ask: Any,
        deadline_s: float | None = CLIENTS_OWN,
        retry_for_s: float = RETRY_FOR_S,
        once: bool = False,
    ) -> T:
        """The answer; None as deadline_s: as long as the daemon lives.

        once: not to be done twice, so not asked again without an id that tells the second from another.
        """
        give_up_s = time.monotonic() + retry_for_s
        for attempt in range(1_000_000):
            try:
                timeout_s = self.deadline_s if deadline_s == CLIENTS_OWN else deadline_s
                call = method(ask, timeout=timeout_s, metadata=self.metadata)
                return await (call if timeout_s else self.heard(call))
            except grpc.aio.AioRpcError as error:
                ours = as_ours(error, self.address)
                again = isinstance(ours, Unavailable) and not (once and not ask.request_id)
                if not again or time.monotonic() > give_up_s:
                    raise ours from error
            await asyncio.sleep(PAUSES_S[min(attempt, len(PAUSES_S) - 1)])
        raise AssertionError("unreachable")

    async def heard(self, answer: Awaitable[T]) -> T:
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
            await self.own.GetVersion(
                pb.GetVersionRequest(), timeout=self._silence_s / 2, metadata=self.metadata
            )
        except grpc.aio.AioRpcError as error:  # of a lost connection the answer itself will tell
            if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                where = f"; its log is {self.version.log_path}" if self.version else ""
                raise Silent(
                    f"the daemon at {self.address} has given no sign of life for {self._silence_s:g} s: "
                    f"it hangs or was stopped{where}"
                ) from error

    async def back_again(self) -> None:
        """Return once the daemon answers again. Raises Unavailable after a while."""
        await self.call(self.own.GetVersion, pb.GetVersionRequest(), retry_for_s=self.reconnect_for_s)
