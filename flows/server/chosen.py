"""The Prefect server of a run: the one that PREFECT_API_URL names, else a local one that lasts as long."""

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

import certifi

from flows.errors import ServerError
from flows.server.local import (
    CERTIFICATES,
    HEARTBEAT,
    TUNING,
    WORD_EVERY_S,
    Environment,
    LocalServer,
    Say,
    environment,
    kept_alive,
    local_server,
)

API_URL = "PREFECT_API_URL"
START_WITHIN_S = 180.0
LOG_LINES = 3
END_OF_CERTIFICATE = "-----END CERTIFICATE-----"
OF_RECORDER = "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_"
RECORDER = {name.removeprefix(OF_RECORDER).lower(): int(value) for name, value in TUNING.items()}


@dataclass(frozen=True)
class Server:
    """Where Prefect's API is; `local` is None for a server that the user runs."""

    api_url: str
    local: LocalServer | None = None

    @property
    def ui_url(self) -> str:
        return self.api_url.removesuffix("/").removesuffix("/api")

    def wait_ready(self, say: Say) -> None:
        """Wait until it answers, with a word every few seconds. Raises ServerError if it never will."""
        started_s = word_s = time.monotonic()
        while (why := trouble(self.api_url)) is not None:
            now_s = time.monotonic()
            if self.local is None or not self.local.is_alive():
                raise ServerError(f"the Prefect server has ended before it answered{_end_of_log(self.local)}")
            if now_s - started_s > START_WITHIN_S:
                raise ServerError(
                    f"the Prefect server did not answer within {START_WITHIN_S:g} s: {why}"
                    f"{_end_of_log(self.local)}"
                )
            if now_s - word_s >= WORD_EVERY_S:
                word_s = now_s
                say(f"the Prefect server is starting, {now_s - started_s:.0f} s so far")
            time.sleep(0.1)

    def kept_alive(self, say: Say) -> AbstractContextManager[None]:
        """Inside the block, a local server that dies is started again."""
        return nullcontext() if self.local is None else kept_alive(self.local, say)


def named_server() -> str:
    """The address in PREFECT_API_URL; "" where it is not set, or set to nothing."""
    return os.environ.get(API_URL, "").strip()


@contextmanager
def prefect_server(home: Path, say: Say, port: int | None = None) -> Iterator[Server]:
    """A server that runs inside the block, though it may still be starting: call its wait_ready before use.

    home: the folder below which the local server's database and logs are kept; port: see `local_server`.
    Inside the block the environment points Prefect to the server, so import Prefect there: it reads the
    environment once, and the import takes seconds in which the server starts. Raises ServerError.
    """
    if named_url := named_server():
        if why := trouble(named_url):
            raise ServerError(
                f"{API_URL}={named_url}: no Prefect server answers there ({why}); {_remedy(named_url)}"
            )
        if advice := how_to_tune(named_url):
            say(advice)
        with _environment({"DO_NOT_TRACK": "1", **HEARTBEAT}):
            yield Server(named_url)
        return
    folder = home / "prefect"
    with (
        local_server(folder, say, port) as local,
        _environment(
            {**environment(folder), API_URL: local.api_url, CERTIFICATES: str(_one_certificate(folder))}
        ),
    ):
        yield Server(local.api_url, local)


def _remedy(named_url: str) -> str:
    """What to do about an address where no server answers."""
    api_url = f"{named_url.rstrip('/')}/api"
    if not named_url.rstrip("/").endswith("/api") and trouble(api_url) is None:
        return f"one does at {api_url}: set the variable to that"
    return "start it, or unset the variable to have a local one started"


def _one_certificate(folder: Path) -> Path:
    """For Prefect's clients, each of which would take 15 ms to read all there are. They speak no TLS here."""
    path = folder / "one-certificate.pem"
    if not path.exists():
        first, end, _ = Path(certifi.where()).read_text(encoding="utf-8").partition(END_OF_CERTIFICATE)
        partial = folder / f"one-certificate.{os.getpid()}.partial"
        partial.write_text(f"{first}{end}\n", encoding="utf-8")
        partial.replace(path)
    return path


def trouble(api_url: str) -> str | None:
    """Why no Prefect server answers at the address, or None where one does."""
    try:
        with urllib.request.urlopen(f"{api_url.rstrip('/')}/health", timeout=10) as answer:
            return None if answer.read(100).strip() == b"true" else "its address ends in /api"
    except urllib.error.HTTPError as error:
        # Prefect Cloud and servers with a password answer only those who have the key, as the client will.
        return None if error.code in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN) else str(error)
    except (OSError, ValueError) as error:
        return str(getattr(error, "reason", error))


def how_to_tune(api_url: str) -> str | None:
    """One line where the server's settings make it fall behind in large batches; None where they do not.

    None as well where it does not tell them, as Prefect Cloud.
    """
    try:
        with urllib.request.urlopen(f"{api_url.rstrip('/')}/admin/settings", timeout=10) as answer:
            found = json.load(answer)["server"]["services"]["task_run_recorder"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if all(found.get(name) == value for name, value in RECORDER.items()):
        return None
    wanted = " ".join(f"{name}={value}" for name, value in TUNING.items())
    return f"the Prefect server at {api_url} is not tuned for many tasks; start it with {wanted}"


def _end_of_log(local: LocalServer | None) -> str:
    if local is None:
        return ""
    lines = [line for line in Path(local.log_path).read_text(errors="replace").splitlines() if line.strip()]
    return f"; {local.log_path} ends: {' / '.join(lines[-LOG_LINES:]) or '(empty)'}"


@contextmanager
def _environment(changes: Environment) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in changes}
    _set(changes)
    try:
        yield
    finally:
        _set(before)


def _set(variables: Environment) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
