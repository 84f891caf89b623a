"""How refusals travel: as gRPC statuses with our sentence, and back as our errors."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import wraps
from typing import Any, NoReturn

import grpc

from daemon.errors import (
    Conflict,
    DaemonError,
    NotAllowed,
    NotConfigured,
    QueueFull,
    Refused,
    Unavailable,
    UnknownJob,
)
from db import HistoryError
from engine import EngineError
from groth16.errors import InputError

log = logging.getLogger("cuzk.daemon")

RETRY_AFTER = "retry-after-ms"
CODES: dict[type[Exception], grpc.StatusCode] = {
    QueueFull: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Unavailable: grpc.StatusCode.UNAVAILABLE,
    UnknownJob: grpc.StatusCode.NOT_FOUND,
    Conflict: grpc.StatusCode.ALREADY_EXISTS,
    NotConfigured: grpc.StatusCode.FAILED_PRECONDITION,
    Refused: grpc.StatusCode.INVALID_ARGUMENT,
    NotAllowed: grpc.StatusCode.UNAUTHENTICATED,
    EngineError: grpc.StatusCode.FAILED_PRECONDITION,
    InputError: grpc.StatusCode.FAILED_PRECONDITION,
    HistoryError: grpc.StatusCode.UNAVAILABLE,
}
"""The first kind that fits."""


def answered(method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """A method of a servicer whose refusals are answers."""

    @wraps(method)
    async def answer(self: Any, request: Any, context: Any) -> Any:
        try:
            return await method(self, request, context)
        except Exception as error:
            await _abort(context, error)

    return answer


def streamed(method: Callable[..., AsyncIterator[Any]]) -> Callable[..., AsyncIterator[Any]]:
    """The same for one that answers with a stream."""

    @wraps(method)
    async def answer(self: Any, request: Any, context: Any) -> AsyncIterator[Any]:
        try:
            async for each in method(self, request, context):
                yield each
        except Exception as error:
            await _abort(context, error)

    return answer


async def _abort(context: Any, error: Exception) -> NoReturn:
    if isinstance(error, grpc.aio.AbortError | grpc.aio.BaseError):
        raise error
    code = next((code for kind, code in CODES.items() if isinstance(error, kind)), None)
    trailing: tuple[tuple[str, str], ...] = ()
    if isinstance(error, QueueFull):
        trailing = ((RETRY_AFTER, str(round(error.retry_after_s * 1000))),)
    if code is None:
        log.error("a request failed by a mistake of this program", exc_info=error)
        code = grpc.StatusCode.INTERNAL
        await context.abort(code, "the daemon made a mistake; its log tells where")
    await context.abort(code, " ".join(str(error).split()), trailing)
    raise AssertionError("abort raises")


def as_ours(error: grpc.aio.AioRpcError, address: str) -> DaemonError:
    """The error as the daemon had it; one line for the user."""
    code, details = error.code(), error.details() or ""
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED:
        trailing = dict(error.trailing_metadata() or ())
        if RETRY_AFTER in trailing:
            return QueueFull(details, int(trailing[RETRY_AFTER]) / 1000)
        return Refused(f"daemon at {address}: {details}")  # a message above the limit
    if code is grpc.StatusCode.UNAVAILABLE:
        return Unavailable(_unreachable(details, address))
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return Unavailable(
            f"daemon at {address}: no answer in time; it may be overloaded or stopped: look at its log"
        )
    if code is grpc.StatusCode.UNIMPLEMENTED:
        return NotConfigured(
            f"daemon at {address}: does not speak this program's own protocol, only the public one"
        )
    kind = next(
        (kind for kind, each in CODES.items() if each is code and issubclass(kind, DaemonError)), None
    )
    return (kind or DaemonError)(details or f"daemon at {address}: {code.name}")


def _unreachable(details: str, address: str) -> str:
    if "failed to connect" in details or "connect" in details.lower() or "Socket closed" in details:
        return (
            f"no daemon answers at {address}; start one with `cuzk daemon --listen {address}`, "
            "or name another address"
        )
    return details or f"the daemon at {address} went away"
