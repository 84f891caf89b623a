"""A host as its user has it: `cuzk ui`, `cuzk deploy` and `cuzk serve`, and what came to the webhook."""

import json
import os
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from flows.server.local import free_port
from tests.flows.support import answer_to, ask, eventually

CUZK = Path(sys.executable).with_name("cuzk")


@dataclass
class Host:
    """Its folder, where its server is, and what was told to the webhook at `hook_url`."""

    home: Path
    api_url: str
    hook_url: str
    told: list[str] = field(default_factory=list)
    joins: bool = False  # a server that another host has

    def cuzk(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run a command on this host to its end."""
        return subprocess.run(
            [str(CUZK), *arguments], env=self.env, cwd=self.home, capture_output=True, text=True, check=False
        )

    @property
    def env(self) -> dict[str, str]:
        """A run that waits for its deployment's turn looks more often than every half minute, and whoever
        serves for what is due more often than every two seconds.
        """
        soon = {
            "PREFECT_SERVER_DEPLOYMENTS_CONCURRENCY_SLOT_WAIT_SECONDS": "1",
            "PREFECT_WORKER_QUERY_SECONDS": "0.5",
        }
        elsewhere = {"PREFECT_API_URL": self.api_url} if self.joins else {}
        return {**os.environ, "CUZK_HOME": str(self.home), **soon, **elsewhere}

    def get(self, question: str) -> Any:
        """GET from Prefect's API."""
        return answer_to(urllib.request.Request(f"{self.api_url}/{question}"))

    def change(self, question: str, **body: object) -> None:
        """PATCH in Prefect's API, as its UI does."""
        request = urllib.request.Request(
            f"{self.api_url}/{question}",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
            method="PATCH",
        )
        answer_to(request)

    def deployment(self, name: str) -> Any:
        """By flow and name."""
        return self.get(f"deployments/name/{name}")

    def start(self, name: str, on_queue: str | None = None, **parameters: object) -> str:
        """Start a run of a deployment now, as its form does; returns its id."""
        body = {"state": {"type": "SCHEDULED"}, "work_queue_name": on_queue}
        if parameters:
            body["parameters"] = {"parameters": parameters}  # type: ignore[assignment]  # whatever JSON holds
        run_id: str = ask(self.api_url, f"deployments/{self.deployment(name)['id']}/create_flow_run", **body)[
            "id"
        ]
        return run_id

    def cancel(self, run_id: str) -> None:
        """Ask for a run's cancellation, as the UI's button does."""
        ask(self.api_url, f"flow_runs/{run_id}/set_state", state={"type": "CANCELLING"})

    def run(self, run_id: str) -> Any:
        """A flow run as it is now."""
        return self.get(f"flow_runs/{run_id}")

    def state(self, run_id: str) -> str:
        """Of what type its state is now."""
        state: str = self.run(run_id)["state_type"]
        return state


@contextmanager
def host(home: Path) -> Iterator[Host]:
    """Inside the block its server stays, and its webhook listens."""
    told: list[str] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told.append(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["text"])
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing to say."""

    port = free_port()
    with HTTPServer(("127.0.0.1", 0), Hook) as hook:
        threading.Thread(target=hook.serve_forever, daemon=True).start()
        hook_url = f"http://127.0.0.1:{hook.server_port}/secret"
        made = Host(home, f"http://127.0.0.1:{port}/api", hook_url, told)
        started = made.cuzk("ui", "--port", str(port))
        assert started.returncode == 0, started.stderr
        try:
            yield made
        finally:
            stopped = made.cuzk("ui", "stop")
            hook.shutdown()
        assert stopped.returncode == 0, stopped.stderr


@contextmanager
def serving(on: Host, *options: str) -> Iterator["subprocess.Popen[str]"]:
    """Inside the block `cuzk serve` runs on the host; after it, it has ended by SIGTERM, unless by itself."""
    log = on.home / f"serve{'-'.join(options)}.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [str(CUZK), "serve", *options],
            env=on.env,
            cwd=on.home,
            stdout=output,
            stderr=output,
            text=True,
        )
    try:
        assert eventually(lambda: "serving the queues" in log.read_text() or process.poll() is not None), (
            log.read_text()
        )
        assert process.poll() is None, log.read_text()
        yield process
    finally:
        process.terminate()
        process.wait(timeout=120)
