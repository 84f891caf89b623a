"""A server that forwards the public protocol to a daemon and knows no other, as one of another program."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc

from daemon.address import parse_address

PUBLIC = "/cuzk.v1.ProvingEngine/"


class _Forwarding(grpc.GenericRpcHandler):
    """Bytes there and back."""

    def __init__(self, channel: Any) -> None:
        self._channel = channel

    def service(self, handler_call_details: Any) -> Any:
        method = handler_call_details.method
        if not method.startswith(PUBLIC):
            return None

        async def forward(request: bytes, _context: Any) -> bytes:
            answer: bytes = await self._channel.unary_unary(method)(request)
            return answer

        return grpc.unary_unary_rpc_method_handler(forward)


@asynccontextmanager
async def public_only(daemon: str, address: str) -> AsyncIterator[str]:
    """Inside the block it listens at `address`, which it gives."""
    async with grpc.aio.insecure_channel(parse_address(daemon).target) as channel:
        server = grpc.aio.server()
        server.add_generic_rpc_handlers([_Forwarding(channel)])
        server.add_insecure_port(parse_address(address).target)
        await server.start()
        try:
            yield address
        finally:
            await server.stop(0)
