"""Which process is watched: found by what it listens on or by the file of its id, and checked alive.

An id alone is never trusted: ids are used again, so a process is known by its id and its start.
"""

from __future__ import annotations

import ipaddress
import json
import socket
import struct
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil

from bench.errors import BenchError
from engine.alive import is_alive, started

_CREDENTIALS = struct.Struct("3i")  # pid, uid and gid, see SO_PEERCRED in unix(7)
_CONNECT_WITHIN_S = 5.0
_CLOCKS_DIFFER_S = 2.0  # between a process's start and a file system's times


@dataclass(frozen=True)
class Target:
    """A process by its id and start; `found_by` is for people, as "listens on 127.0.0.1:9820"."""

    pid: int
    start: str
    found_by: str

    @property
    def alive(self) -> bool:
        """Whether that very process still runs."""
        return is_alive(self.pid, self.start)


def by_pid(pid: int, found_by: str = "by its id") -> Target:
    """The process with that id. Raises BenchError where none runs."""
    start = started(pid)
    if not start:
        raise BenchError(f"process {pid}, found {found_by}: does not run; start it, or name another")
    return Target(pid, start, found_by)


def by_pid_file(path: Path) -> Target:
    """The process that a file names: this program's daemons by id and start, others by an id alone.

    Of an id alone, one that was started after the file was written has another's id, used again. Raises
    BenchError.
    """
    try:
        text, written_s = path.read_text(encoding="utf-8"), path.stat().st_mtime
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "is no text"
        raise BenchError(f"{path}: cannot be read ({why}); is the daemon started?") from error
    pid, started_s = _named(path, text)
    target = by_pid(pid, f"by {path}")
    found_s = _started_at_s(pid)
    off_s = found_s - written_s if started_s is None else abs(found_s - started_s)
    if off_s > _CLOCKS_DIFFER_S:
        raise BenchError(
            f"{path}: process {pid} is not the one that wrote it, whose id was used again; "
            "the daemon has ended, start it"
        )
    return target


def _named(path: Path, text: str) -> tuple[int, float | None]:
    """The id, and when the process was started, since 1970, where the file tells that."""
    try:
        if text.startswith("{"):
            value = json.loads(text)
            return int(value["pid"]), datetime.fromisoformat(value["process_started_at"]).timestamp()
        first = text.split()[0]
        if first.isdecimal():
            return int(first), None
    except (ValueError, KeyError, TypeError, IndexError):
        pass
    raise BenchError(f"{path}: found {text[:40]!r}, expected a process's id; name the daemon's pid file")


def by_address(address: str) -> Target:
    """The process that listens on "unix:///PATH", "http://HOST:PORT" or "HOST:PORT" of this machine.

    Raises BenchError where none does, or it is another machine's or user's.
    """
    if address.startswith("unix:"):
        return _by_unix_socket(address.removeprefix("unix:").removeprefix("//"))
    parts = urlsplit(address if "://" in address else f"http://{address}")
    try:
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise BenchError(f"{address}: {error}; expected HOST:PORT or unix:///PATH") from error
    if host is None or port is None:
        raise BenchError(f"{address}: expected HOST:PORT or unix:///PATH")
    return _by_tcp_port(address, host, port)


def _by_unix_socket(path: str) -> Target:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(_CONNECT_WITHIN_S)
        try:
            client.connect(path)
        except OSError as error:
            why = error.strerror or str(error)
            raise BenchError(f"unix://{path}: nobody listens there ({why}); start the daemon") from error
        if not hasattr(socket, "SO_PEERCRED"):
            raise BenchError(f"unix://{path}: this system does not tell who listens; give --pid-file")
        peer = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, _, _ = _CREDENTIALS.unpack(peer)
    if pid <= 0:
        raise BenchError(f"unix://{path}: who listens is in another container; watch it from there")
    return by_pid(pid, f"listens on unix://{path}")


def _by_tcp_port(address: str, host: str, port: int) -> Target:
    if not _is_here(host):
        raise BenchError(f"{address}: is another machine; its processes can be watched only there")
    try:
        found = [each for each in psutil.net_connections("tcp") if _listens(each, port)]
    except psutil.Error as error:
        raise BenchError(f"{address}: this user may not see who listens; give --pid-file") from error
    if not found:
        raise BenchError(f"{address}: nobody listens there; start the daemon, or give its address")
    pids = {each.pid for each in found} - {None}
    if not pids:
        raise BenchError(f"{address}: another user's process listens there; watch it as that user")
    return by_pid(min(pids), f"listens on {host}:{port}")


def _is_here(host: str) -> bool:
    try:
        addresses = {each[4][0] for each in socket.getaddrinfo(host, None)}
    except OSError as error:
        raise BenchError(f"{host}: is not known ({error.strerror}); check the address") from error
    own = {each.address for some in psutil.net_if_addrs().values() for each in some}
    return any(ipaddress.ip_address(str(each)).is_loopback or each in own for each in addresses)


def _listens(connection: Any, port: int) -> bool:
    return bool(connection.status == psutil.CONN_LISTEN and connection.laddr.port == port)


def _started_at_s(pid: int) -> float:
    try:
        return float(psutil.Process(pid).create_time())
    except psutil.Error as error:
        raise BenchError(f"process {pid}: has ended; start the daemon") from error
