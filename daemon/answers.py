"""How refusals travel: as gRPC statuses with our sentence, and back as our errors."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import wraps
from typing import Any, NoReturn

import grpc
from google.protobuf.message import DecodeError

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
from daemon.installation import told, what_is_missing
from db import HistoryError
from engine import EngineError
from groth16.errors import InputError

log = logging.getLogger("cuzk.daemon")

RETRY_AFTER = "retry-after-ms"
MOST_TEXT = 1000
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


class Readable(grpc.aio.ServerInterceptor):  # type: ignore[misc]  # grpc has no types
    """Has methods called with None for bytes that are no message of theirs: gRPC would print all of it."""

    async def intercept_service(
        self, continuation: Callable[[Any], Awaitable[Any]], details: grpc.HandlerCallDetails
    ) -> Any:
        handler = await continuation(details)
        if handler is None or handler.request_deserializer is None:
            return handler
        return handler._replace(request_deserializer=_or_none(handler.request_deserializer))


def _or_none(read: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    def read_or_none(data: bytes) -> Any:
        try:
            return read(data)
        except DecodeError:
            return None

    return read_or_none


def _check(request: Any) -> None:
    if request is None:
        raise Refused("the request is no message of this method; use a client of the same .proto")


def answered(method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """A method of a servicer whose refusals are answers."""

    @wraps(method)
    async def answer(self: Any, request: Any, context: Any) -> Any:
        try:
            _check(request)
            return await method(self, request, context)
        except Exception as error:
            await _abort(context, error)

    return answer


def streamed(method: Callable[..., AsyncIterator[Any]]) -> Callable[..., AsyncIterator[Any]]:
    """The same for one that answers with a stream."""

    @wraps(method)
    async def answer(self: Any, request: Any, context: Any) -> AsyncIterator[Any]:
        try:
            _check(request)
            async for each in method(self, request, context):
                yield each
        except Exception as error:
            await _abort(context, error)

    return answer


async def _abort(context: Any, error: Exception) -> NoReturn:
    if isinstance(error, grpc.aio.AbortError | grpc.aio.BaseError):
        raise error
    if missing := what_is_missing(error):
        error = Unavailable(told(missing))
    code = next((code for kind, code in CODES.items() if isinstance(error, kind)), None)
    trailing: tuple[tuple[str, str], ...] = ()
    if isinstance(error, QueueFull):
        trailing = ((RETRY_AFTER, str(round(error.retry_after_s * 1000))),)
    if code is None:
        log.error("a request failed by a mistake of this program", exc_info=error)
        code = grpc.StatusCode.INTERNAL
        await context.abort(code, "the daemon made a mistake; its log tells where")
    await context.abort(code, one_line(error), trailing)
    raise AssertionError("abort raises")


def one_line(error: Exception) -> str:
    """What it says; a status has no room for more than some thousand bytes."""
    text = " ".join(str(error).split())
    return text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 1] + "…"


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
