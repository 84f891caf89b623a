"""Sockets that a daemon listens on, and who has those that it cannot have."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import struct

import psutil

from daemon.address import Address
from daemon.errors import DaemonError, NotNow


def bound_socket(address: Address, key: str) -> socket.socket:
    """A TCP socket that has the address; `key`: the setting. Raises NotNow, with the process that has it."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((address.host, address.port))
    except OSError as error:
        bound.close()
        if error.errno == errno.EADDRINUSE:
            raise NotNow(
                f"{key}: cannot listen on {address.text}: {_listener(address.port)} does; end it, or choose "
                "another address"
            ) from error
        raise NotNow(
            f"{key}: cannot listen on {address.text} ({error.strerror}); choose an address of this machine"
        ) from error
    return bound


def check_free(address: Address, key: str) -> None:
    """Raise NotNow where the TCP address cannot be had now."""
    bound_socket(address, key).close()


def clear_socket(address: Address, key: str) -> None:
    """Remove a socket that a dead daemon has left. Raises NotNow where a live one answers there."""
    path = address.path
    assert path is not None, "a socket has a path"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DaemonError(f"{key}: {path.parent}: cannot be made ({error.strerror})") from error
    if not path.exists():
        return
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as probe:
        try:
            probe.connect(os.fspath(path))
        except OSError:
            if not path.is_socket():
                raise DaemonError(f"{key}: {path}: is no socket; choose another path") from None
            path.unlink()
            return
        raise NotNow(
            f"{key}: another daemon, {_peer(probe)}, answers at {address.text}; end it, or choose "
            "another path"
        )


def _listener(port: int) -> str:
    """Who listens on the port, as far as this user may know."""
    try:
        found = [
            each.pid
            for each in psutil.net_connections("tcp")
            if each.status == psutil.CONN_LISTEN and each.laddr.port == port and each.pid is not None
        ]
        return f"process {found[0]} ({psutil.Process(found[0]).name()})"
    except (psutil.Error, OSError, IndexError):
        return "another process"


def _peer(connected: socket.socket) -> str:
    if not hasattr(socket, "SO_PEERCRED"):
        return "of another process"
    found = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return f"process {struct.unpack('3i', found)[0]}"
