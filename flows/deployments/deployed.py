"""Deploying and serving from this process. Light to import: Prefect comes once its environment is set."""

import asyncio
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from config import home, settings_file
from engine.words import telling
from flows.deployments.file import BUNDLED, read_deployments
from flows.errors import FlowError, ServerError
from flows.server.chosen import API_URL, Server, named_server, prefect_server
from flows.server.local import Say, running_server

# Looks for runs more often than by default, so that a form's run begins at once; and asks a server again that
# is busy for a minute, where by default the run that was to begin would be given up.
PATIENT = {"PREFECT_WORKER_QUERY_SECONDS": "2", "PREFECT_CLIENT_MAX_RETRIES": "20"}

NOT_IN_NAMES = "%&/<>"
"""What Prefect has in no queue's name."""


def apply_file(path: Path | None, notify: str | None, say: Say, report: Say) -> None:
    """Apply prefect.yaml (None: the bundled one) to the server that there is; `report` is told what became of
    each part. Raises FlowError."""
    entries = read_deployments(path or BUNDLED)
    if notify is not None:
        check_address(notify)
    with found_server(say) as server:
        with telling(say, lambda: "loading Prefect"):
            from flows.deployments.deploy import deploy

        asyncio.run(deploy(entries, report, notify))
        report(f"Prefect UI: {server.ui_url}/deployments")


def check_address(url: str) -> None:
    """Raise FlowError for what is no address of a webhook."""
    parts = urlsplit(url)
    shortened = not url.isascii() or "..." in url  # as in an example
    if parts.scheme not in ("http", "https") or not parts.hostname or shortened or " " in url:
        whole = "whole " if shortened else ""
        raise FlowError(
            f"--notify {url}: expected the {whole}http(s) address of a webhook, as Slack, Mattermost, "
            "Discord or Google Chat give it; for e-mail see docs/prefect.md"
        )


def check_queue(name: str) -> None:
    """Raise FlowError for what cannot be a queue's name."""
    if wrong := sorted(set(name) & set(NOT_IN_NAMES)):
        unwanted = " ".join(NOT_IN_NAMES)
        raise FlowError(f"--queue {name!r}: found {wrong[0]!r}, expected a name without any of {unwanted}")


def serve_host(path: Path | None, queue: str | None, limit: int | None, say: Say) -> None:
    """Run what is due, until a signal; a local server that has to be started for it lasts as long.

    queue: the host's own; None: named as the host. Raises FlowError.
    """
    entries = read_deployments(path or BUNDLED)
    check_queue(queue or "")
    for name, value in PATIENT.items():
        os.environ.setdefault(name, value)
    if settings := settings_file():
        os.environ["CUZK_CONFIG"] = str(settings.absolute())
    with prefect_server(home(), say) as server:
        with telling(say, lambda: "loading Prefect"):
            from flows.deployments.worker import serve

        server.wait_ready(say)
        say(f"Prefect UI: {server.ui_url}")
        with server.kept_alive(say):
            asyncio.run(serve(entries, queue or socket.gethostname(), limit, say))


@contextmanager
def found_server(say: Say) -> Iterator[Server]:
    """The server that is there, answering; none is started. Raises ServerError."""
    if not named_server() and running_server(home() / "prefect") is None:
        raise ServerError(
            f"no Prefect server runs for {home()}; start one by `cuzk ui`, or name one in {API_URL}"
        )
    with prefect_server(home(), say) as server:
        server.wait_ready(say)
        yield server
