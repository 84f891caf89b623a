"""Whom a daemon lets in: this machine's processes, and others only by TLS and a token or a certificate."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc

from config import DaemonConfig
from daemon.address import Address
from daemon.errors import DaemonError

BEARER = "Bearer "


def check_listening(address: Address, settings: DaemonConfig, key: str = "daemon.listen") -> None:
    """Raise DaemonError, one line, for an address that others reach without being known."""
    if (settings.tls_cert is None) != (settings.tls_key is None):
        raise DaemonError("daemon.tls_cert and daemon.tls_key belong together; set both, or neither")
    if settings.client_ca is not None and settings.tls_cert is None:
        raise DaemonError("daemon.client_ca needs daemon.tls_cert and daemon.tls_key; set them, too")
    if address.is_local:
        return
    if settings.tls_cert is None or (settings.token_file is None and settings.client_ca is None):
        raise DaemonError(
            f"{key}: {address.text} can be reached from other machines, so it needs daemon.tls_cert and "
            "daemon.tls_key, and daemon.token_file or daemon.client_ca; set them, or listen on 127.0.0.1"
        )


def credentials(address: Address, settings: DaemonConfig) -> grpc.ServerCredentials | None:
    """TLS as the settings say; None for a socket, and where they say nothing. Raises DaemonError."""
    if address.path is not None or settings.tls_cert is None or settings.tls_key is None:
        return None
    pair = (
        read_secret(settings.tls_key, "daemon.tls_key"),
        read_secret(settings.tls_cert, "daemon.tls_cert"),
    )
    client_ca = settings.client_ca and read_secret(settings.client_ca, "daemon.client_ca")
    return grpc.ssl_server_credentials([pair], client_ca, require_client_auth=client_ca is not None)


def token(settings: DaemonConfig) -> str | None:
    """What clients have to know. Raises DaemonError for a file that is empty or readable by everybody."""
    path = settings.token_file
    if path is None:
        return None
    text = read_token(path, "daemon.token_file")
    if len(text) < 16:
        raise DaemonError(f"daemon.token_file: {path}: expected a token of at least 16 characters")
    if path.stat().st_mode & 0o007:
        raise DaemonError(f"daemon.token_file: {path}: everybody may read it; chmod 600 {path}")
    return text


def read_secret(path: Path, key: str) -> bytes:
    """The file's bytes. Raises DaemonError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise DaemonError(f"{key}: {path}: {error.strerror}; check its path and permissions") from error


def read_token(path: Path, key: str) -> str:
    """The token in the file, which goes into a header. Raises DaemonError, without a word of it."""
    text = read_secret(path, key).decode("ascii", "replace").strip()
    if not text or not (text.isascii() and text.isprintable()):
        raise DaemonError(f"{key}: {path}: is no token; expected one line of printable ASCII characters")
    return text


def is_known(authorization: str, expected: str) -> bool:
    """Whether the header carries the token; takes as long for a wrong one."""
    return hmac.compare_digest(authorization.encode(), (BEARER + expected).encode())


class TokenRequired(grpc.aio.ServerInterceptor):  # type: ignore[misc]  # grpc has no types
    """Lets only those calls through that carry the token."""

    def __init__(self, expected: str) -> None:
        self._expected = expected

    async def intercept_service(
        self, continuation: Callable[[Any], Awaitable[Any]], details: grpc.HandlerCallDetails
    ) -> Any:
        sent = dict(details.invocation_metadata or ()).get("authorization", "")
        handler = await continuation(details)
        if is_known(sent, self._expected) or handler is None:
            return handler
        return _refusal_like(handler)


def _refusal_like(handler: grpc.RpcMethodHandler) -> grpc.RpcMethodHandler:
    async def refuse(_request: Any, context: Any) -> None:
        await context.abort(
            grpc.StatusCode.UNAUTHENTICATED,
            "this daemon wants a token: give the client the file that daemon.token_file names",
        )

    async def refuse_stream(_request: Any, context: Any) -> Any:
        await refuse(_request, context)
        yield

    kinds = {
        (False, False): (grpc.unary_unary_rpc_method_handler, refuse),
        (False, True): (grpc.unary_stream_rpc_method_handler, refuse_stream),
        (True, False): (grpc.stream_unary_rpc_method_handler, refuse),
        (True, True): (grpc.stream_stream_rpc_method_handler, refuse_stream),
    }
    make, answer = kinds[handler.request_streaming, handler.response_streaming]
    return make(answer, handler.request_deserializer, handler.response_serializer)
