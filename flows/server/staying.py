"""The local server that stays, for the UI, schedules and workers, until it is told to end."""

import socket
from pathlib import Path

from flows.ends.left_open import close_left_open
from flows.errors import ServerError
from flows.server.chosen import API_URL, Server, named_server, prefect_server
from flows.server.local import LocalServer, Say, free_port, let_stay, running_server

USUAL_PORT = 4200
"""Prefect's own choice, and so where people look for it."""


def start_to_stay(home: Path, port: int | None, say: Say) -> Server:
    """A server that answers; the local one, whether it ran already or is new, stays behind this call.

    The server that PREFECT_API_URL names is found as it is. port: where a local one is to listen; None: where
    one runs already, else at the usual port, or a free one where that is taken. Raises ServerError.
    """
    folder = home / "prefect"
    if port is not None:
        _refuse_port(folder, port)
    with prefect_server(home, say, port or _usual_port(folder, say)) as server:
        server.wait_ready(say)
        close_left_open(server, say)
        if server.local is not None:
            let_stay(folder, say, stays=True)
        return server


def end_stay(home: Path, say: Say) -> LocalServer:
    """Have the local server end as soon as nobody uses it, at once if nobody does. Raises ServerError."""
    if named_url := named_server():
        raise ServerError(
            f"{API_URL}={named_url}: that server is not ours to stop; unset the variable to stop ours"
        )
    if (server := let_stay(home / "prefect", say, stays=False)) is None:
        raise ServerError(f"no Prefect server runs for {home}; nothing is to be stopped")
    return server


def staying_server(home: Path) -> LocalServer | None:
    """The local server, if it runs and stays."""
    server = running_server(home / "prefect")
    return server if server is not None and server.stays else None


def _refuse_port(folder: Path, port: int) -> None:
    if named_url := named_server():
        raise ServerError(f"--port {port}: {API_URL}={named_url} names a server; leave out one of both")
    running = running_server(folder)
    if running is None and not _is_free(port):
        raise ServerError(f"--port {port}: another program listens there; choose another port")
    if running is not None and running.port != port:
        raise ServerError(
            f"--port {port}: the server runs at {running.port} already; leave it out, or stop that one first"
        )


def _usual_port(folder: Path, say: Say) -> int:
    if _is_free(USUAL_PORT):
        return USUAL_PORT
    port = free_port()
    if not named_server() and running_server(folder) is None:
        say(f"another program listens at port {USUAL_PORT}, so the server is at {port}; --port chooses one")
    return port


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
