"""Daemons that go away in the middle of a run, and daemons that speak the public protocol alone."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import examples
from bench.asked import PublicOptions, asked
from bench.driving import Session, drive
from bench.finishing import Finished
from bench.works import one_after_another
from config import load_config
from tests.bench.public_only import public_only
from tests.daemon.conftest import Daemon

CUZK = Path(sys.executable).with_name("cuzk")


def test_a_run_goes_on_with_the_next_daemon_and_watches_its_process(
    new_daemon: Callable[..., Daemon], tmp_path: Path
) -> None:
    """Killed in the middle: it keeps the jobs, and each proof is delivered once."""
    daemon, listen = new_daemon(), ("--listen", f"unix://{tmp_path}/socket")
    daemon.start(*listen)
    first = daemon.process
    assert first is not None
    arguments = ["-t", "multiplier", "-c", "40", "-j", "4", "--interval", "0.1"]
    running = subprocess.Popen(
        [CUZK, "bench", "batch", "--addr", daemon.address, *arguments],
        env={**os.environ, "CUZK_HOME": str(daemon.home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    folder = next((daemon.home / "bench").iterdir()) if wait_for_proofs(daemon, 5) else None
    assert folder is not None
    daemon.signal(signal.SIGKILL)
    first.wait()
    daemon.start(*listen)
    printed, told = running.communicate(timeout=120)
    assert running.returncode == 0, told
    assert "40 of 40 proofs" in printed
    found = json.loads((folder / "results.json").read_text())
    assert len({each["job_id"] for each in found["proofs"]}) == 40
    assert f"process {first.pid} (listens on" in told
    assert "the daemon is back" in told
    at_s = [json.loads(line)["at_s"] for line in (folder / "samples.jsonl").read_text().splitlines()]
    assert at_s == sorted(at_s)


def wait_for_proofs(daemon: Daemon, count: int) -> bool:
    async def done(client: object) -> bool:
        async for status in client.statuses(0.05):  # type: ignore[attr-defined]
            if status.done >= count:
                return True
        return False

    return daemon.ask(done)


def test_a_daemon_of_the_public_protocol_alone_is_measured_too(daemon: Daemon, tmp_path: Path) -> None:
    said: list[str] = []

    async def run() -> Finished:
        async with public_only(daemon.address, f"unix://{tmp_path}/socket") as address:
            options = PublicOptions(c1=examples.CIRCUITS["multiplier"].inputs)
            ask = asked("porep", None, options)
            config = load_config(daemon.home / "cuzk.toml")
            session = Session(address, config, ["test"], said.append, lambda _: None, interval_s=0.1)
            work = one_after_another([ask], 3, 2, False)
            return await drive(session, "porep ×3", [ask], 3, 2, {}, work)

    finished = asyncio.run(run())
    assert finished.summary.succeeded == 3
    assert set(finished.summary.stages) == {"queue", "load", "synthesize", "prove"}
    assert said[0].startswith(f"daemon   unix://{tmp_path}/socket: of another program")
