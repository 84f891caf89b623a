"""A daemon's status over HTTP: JSON, Prometheus, health, and a page that shows it live."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from config import DaemonConfig
from daemon import security
from daemon.address import Address, parse_address
from daemon.book import Book
from daemon.errors import DaemonError
from daemon.installation import told
from daemon.listening import bound_socket
from daemon.metrics import metrics_text
from daemon.status import Status
from engine import Engine

PAGE = Path(__file__).with_name("page.html")
PROMETHEUS = "text/plain; version=0.0.4"
Answer = Callable[[Request], Awaitable[Response]]


@asynccontextmanager
async def serve_status(
    settings: DaemonConfig, engine: Engine, book: Book, status: Status
) -> AsyncIterator[str]:
    """Inside the block it is served, at the address given; "" where the settings want none.

    Raises DaemonError for an address that cannot be had, or that others reach without being known.
    """
    if not settings.status_listen:
        yield ""
        return
    address = parse_address(settings.status_listen)
    if address.path is not None:
        raise DaemonError("daemon.status_listen: expected HOST:PORT, or nothing for no status over HTTP")
    security.check_listening(address, settings, "daemon.status_listen")
    bound = bound_socket(address, "daemon.status_listen")
    server = _Server(_configured(_application(settings, engine, book, status), settings, address))
    serving = asyncio.create_task(server.serve(sockets=[bound]))
    scheme = "http" if address.is_local else "https"
    try:
        yield f"{scheme}://{address.host}:{bound.getsockname()[1]}"
    finally:
        server.should_exit = server.force_exit = True
        with contextlib.suppress(asyncio.CancelledError):
            await serving
        bound.close()


class _Server(uvicorn.Server):
    """Leaves signals to the daemon."""

    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        yield


def _configured(application: Starlette, settings: DaemonConfig, address: Address) -> uvicorn.Config:
    tls: dict[str, Any] = {}
    if not address.is_local:
        tls = {"ssl_certfile": settings.tls_cert, "ssl_keyfile": settings.tls_key}
        if settings.client_ca is not None:
            tls |= {"ssl_ca_certs": str(settings.client_ca), "ssl_cert_reqs": ssl.CERT_REQUIRED}
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    return uvicorn.Config(
        application, log_config=None, access_log=False, lifespan="off", ws="none", http="h11", **tls
    )


def _application(settings: DaemonConfig, engine: Engine, book: Book, status: Status) -> Starlette:
    async def page(_request: Request) -> Response:
        return HTMLResponse(PAGE.read_text(encoding="utf-8"))

    async def as_json(_request: Request) -> Response:
        return JSONResponse(status.as_json())

    async def metrics(_request: Request) -> Response:
        return PlainTextResponse(metrics_text(engine, book), media_type=PROMETHEUS)

    async def health(_request: Request) -> Response:
        if book.runs.draining:
            return PlainTextResponse("draining\n", status_code=503)
        if book.runs.missing:
            return PlainTextResponse(told(book.runs.missing) + "\n", status_code=503)
        return PlainTextResponse("ok\n")

    known = _for_the_known(security.token(settings))
    answers: dict[str, Answer] = {"/": page, "/status": as_json, "/metrics": metrics}
    routes = [Route(path, known(answer)) for path, answer in answers.items()]
    return Starlette(routes=[*routes, Route("/healthz", health)])


def _for_the_known(expected: str | None) -> Callable[[Answer], Answer]:
    """Those alone who send the token are answered, where there is one."""

    def wrap(answer: Answer) -> Answer:
        async def checked(request: Request) -> Response:
            if expected is None or security.is_known(request.headers.get("authorization", ""), expected):
                return await answer(request)
            return PlainTextResponse("this daemon wants its token\n", status_code=401)

        return checked

    return wrap
