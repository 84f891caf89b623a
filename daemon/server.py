"""The gRPC server of a daemon."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import grpc
from grpc_reflection.v1alpha import reflection

from config import DaemonConfig
from daemon import security
from daemon.address import Address
from daemon.answers import Readable
from daemon.errors import NotNow
from daemon.listening import check_free, clear_socket
from daemon.proto.cuzk.v1 import proving_pb2
from daemon.proto.cuzk.v1.proving_pb2_grpc import add_ProvingEngineServicer_to_server
from daemon.proto.cuzk_py.v1 import circuits_pb2
from daemon.proto.cuzk_py.v1.circuits_pb2_grpc import add_CircuitsServicer_to_server

MESSAGE_BYTES = 256 << 20
OPTIONS: Sequence[tuple[str, int]] = (
    ("grpc.max_receive_message_length", MESSAGE_BYTES),
    ("grpc.max_send_message_length", MESSAGE_BYTES),
    ("grpc.so_reuseport", 0),  # a second daemon on the port is refused, and takes no half of the calls
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_ping_interval_without_data_ms", 1000),
)
SERVICES = tuple(
    file.services_by_name[name].full_name
    for file, name in ((proving_pb2.DESCRIPTOR, "ProvingEngine"), (circuits_pb2.DESCRIPTOR, "Circuits"))
)


async def serve(address: Address, settings: DaemonConfig, public: Any, circuits: Any) -> tuple[Any, Address]:
    """A server that answers, and the address it has: a port of 0 is any. Raises DaemonError."""
    security.check_listening(address, settings)
    expected = security.token(settings)
    known = [] if expected is None else [security.TokenRequired(expected)]
    interceptors = [*known, Readable()]
    server = grpc.aio.server(options=OPTIONS, interceptors=interceptors)
    add_ProvingEngineServicer_to_server(public, server)
    add_CircuitsServicer_to_server(circuits, server)
    reflection.enable_server_reflection((*SERVICES, reflection.SERVICE_NAME), server)
    if address.path is not None:
        clear_socket(address, "daemon.listen")
    elif address.port:
        check_free(address, "daemon.listen")  # gRPC would not tell why it cannot have it
    secure = security.credentials(address, settings)
    try:
        port = (
            server.add_insecure_port(address.target)
            if secure is None
            else server.add_secure_port(address.target, secure)
        )
    except RuntimeError as error:
        raise NotNow(f"daemon.listen: cannot listen on {address.text}; choose another address") from error
    await server.start()
    if address.path is not None:
        address.path.chmod(0o660)
        return server, address
    scheme = "http" if secure is None else "https"
    return server, Address(f"{scheme}://{address.host}:{port}", address.host, port, tls=secure is not None)
