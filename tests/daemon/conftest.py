"""Real daemons, started as an operator starts them, and what tests ask of them."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

import examples
from daemon.client import Client, connect
from groth16.proof import read_proof, read_public
from groth16.verification_key import read_verification_key_of
from groth16.verifier import verify

T = TypeVar("T")

CUZK = Path(sys.executable).with_name("cuzk")
PATIENCE_S = 120.0
SETTINGS = """
[memory]
total_budget = "256MiB"
ledger = "off"
[synthesis]
threads = 2
[gpus]
devices = "none"
gpu_threads = 2
[srs]
param_cache = "{params}"
[daemon]
listen = "127.0.0.1:0"
status_listen = "127.0.0.1:0"
drain = "30s"
{daemon}
[daemon.circuits]
POREP_SEAL_COMMIT = "multiplier"
porep-2k = "multiplier-bls12381"
{more}
"""
INPUT = examples.CIRCUITS["multiplier"].inputs.read_bytes()


@dataclass
class Daemon:
    """A daemon of its own home; `address` and `status` are those that it printed."""

    home: Path
    params: Path
    process: subprocess.Popen[str] | None = None
    address: str = ""
    status: str = ""
    log: Path = field(default_factory=Path)
    environment: dict[str, str] = field(default_factory=dict)

    def configure(self, daemon: str = "", more: str = "") -> Path:
        """Its settings' file, with these lines in [daemon] and after all."""
        path = self.home / "cuzk.toml"
        path.write_text(SETTINGS.format(params=self.params, daemon=daemon, more=more))
        return path

    def start(self, *options: str, **streams: Any) -> "Daemon":
        """Start it, and wait for the line that says where it is."""
        environment = {**os.environ, "CUZK_HOME": str(self.home), **self.environment}
        command = [str(CUZK), "daemon", "--config", str(self.home / "cuzk.toml"), *options]
        self.process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **streams
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"the daemon did not start: {self.process.communicate()[1]}")
        words = line.removeprefix("cuzk daemon: listening on ").replace(", status on", ";").split("; ")
        self.address, self.status, log = words[0], words[1] if len(words) > 2 else "", words[-1]
        self.log = Path(log.strip().removeprefix("log "))
        return self

    def signal(self, number: int) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def ended(self) -> int:
        """Its status, once it has ended."""
        assert self.process is not None
        self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.signal(signal.SIGTERM)
            try:
                self.process.communicate(timeout=PATIENCE_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.communicate()
                raise

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.communicate()

    def ask(self, question: Callable[[Client], Awaitable[T]]) -> T:
        """What a client of it is answered."""

        async def asked() -> T:
            async with asyncio.timeout(PATIENCE_S), connect(self.address) as client:
                return await question(client)

        return asyncio.run(asked())

    def verify(self, proof: bytes, public: bytes, circuit: str = "multiplier") -> None:
        """Raise unless it is a proof of the circuit."""
        (zkey,) = self.params.glob(f"{circuit}-????????????????-development.zkey")
        key = read_verification_key_of(zkey)
        paths = [self.home / name for name in ("check-proof.json", "check-public.json")]
        for path, content in zip(paths, (proof, public), strict=True):
            path.write_bytes(content)
        verify(key, read_public(paths[1], key.curve), read_proof(paths[0]))


@pytest.fixture(scope="session")
def params(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Development keys that all daemons share."""
    return tmp_path_factory.mktemp("params")


@pytest.fixture
def new_daemon(tmp_path_factory: pytest.TempPathFactory, params: Path) -> Iterator[Callable[..., Daemon]]:
    """Makes daemons, not yet started; they are stopped at the end."""
    with contextlib.ExitStack() as stack:

        def make(daemon: str = "", more: str = "") -> Daemon:
            made = Daemon(tmp_path_factory.mktemp("daemon"), params)
            made.configure(daemon, more)
            stack.callback(made.stop)
            return made

        yield make


@pytest.fixture(scope="session")
def daemon(tmp_path_factory: pytest.TempPathFactory, params: Path) -> Iterator[Daemon]:
    """One that all tests of a session share."""
    made = Daemon(tmp_path_factory.mktemp("daemon"), params)
    made.configure()
    made.start()
    try:
        yield made
    finally:
        made.stop()


def pid_file(home: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((home / "daemon" / "daemon.pid").read_text())
    return value
