"""Addresses of daemons, as people write them and as gRPC takes them."""

import ipaddress
from dataclasses import dataclass
from pathlib import Path

from daemon.errors import DaemonError

EXPECTED = 'expected "HOST:PORT", "http://HOST:PORT", "https://HOST:PORT" or "unix:///PATH"'


@dataclass(frozen=True)
class Address:
    """A host and a port, or the path of a socket; `tls`: it was written with https."""

    text: str
    host: str = ""
    port: int = 0
    path: Path | None = None
    tls: bool = False

    @property
    def target(self) -> str:
        """As gRPC takes it, to listen and to connect."""
        return f"unix:{self.path}" if self.path else f"{_bracketed(self.host)}:{self.port}"

    @property
    def is_local(self) -> bool:
        """Whether only processes of this machine reach it."""
        if self.path is not None or self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def parse_address(text: str) -> Address:
    """What the text says. Raises DaemonError, one line, for anything else."""
    scheme, separator, rest = text.strip().partition("://")
    if not separator:
        scheme, rest = ("unix", text.strip()[5:]) if text.startswith("unix:") else ("http", text.strip())
    if scheme == "unix" and rest.startswith("/"):
        return _socket(text, Path(rest))
    if scheme not in ("http", "https"):
        raise DaemonError(f"address {text!r}: {EXPECTED}")
    host, colon, port = rest.rstrip("/").rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (colon and host and port.isdecimal() and int(port) < 1 << 16) or set(host) & set("/ @"):
        raise DaemonError(f"address {text!r}: {EXPECTED}")
    return Address(text, host, int(port), tls=scheme == "https")


def _socket(text: str, path: Path) -> Address:
    if len(str(path).encode()) > 100:  # the system allows 107, and writes a name beside it while it binds
        raise DaemonError(f"address {text!r}: is too long for a socket's path; choose one below 100 bytes")
    return Address(text, path=path)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
