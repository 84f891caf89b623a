"""Starting a daemon for one run, and ending it after."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from bench.errors import BenchError
from daemon.client import wait_ready
from daemon.errors import DaemonError

START_WITHIN_S = 60.0
END_WITHIN_S = 30.0
LOOK_EVERY_S = 0.05


@asynccontextmanager
async def spawned(
    settings: Path | None, budget: str | None, say: Callable[[str], None]
) -> AsyncIterator[str]:
    """Inside the block a daemon listens at the address that it gives; after it, it has ended.

    Its jobs are its own; kernels, keys, the history and the memory budget are this user's, and so shared with
    the host's daemon, where there is one. Raises BenchError, with what the daemon said last, where it does
    not start.
    """
    with tempfile.TemporaryDirectory(prefix="cuzk-bench-", ignore_cleanup_errors=True) as name:
        address, output = f"unix://{name}/socket", Path(name) / "output"
        command = [sys.executable, "-P", "-m", "bench.spawned", address, budget or "", str(settings or "")]
        process = await asyncio.to_thread(_start, command, output)
        try:
            say(f"starting a daemon, process {process.pid}")
            await _ready(process, address, output)
            yield address
        finally:
            await _end(process, say)


def _start(command: list[str], output: Path) -> subprocess.Popen[bytes]:
    with output.open("wb") as file:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=file,
            stderr=file,
            start_new_session=True,  # a Ctrl-C in the terminal is for the run, which then ends it
        )


async def _ready(process: subprocess.Popen[bytes], address: str, output: Path) -> None:
    waiting = asyncio.ensure_future(wait_ready(address, START_WITHIN_S))
    try:
        while not waiting.done():
            if process.poll() is not None:
                raise BenchError(f"the daemon did not start: {_last_line(output)}")
            await asyncio.wait([waiting], timeout=LOOK_EVERY_S)
        waiting.result()
    except DaemonError as error:
        raise BenchError(
            f"the daemon did not start within {START_WITHIN_S:g} s: {_last_line(output)}"
        ) from error
    finally:
        waiting.cancel()


def _last_line(output: Path) -> str:
    lines = output.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line for line in reversed(lines) if line.strip()), "it said nothing")


async def _end(process: subprocess.Popen[bytes], say: Callable[[str], None]) -> None:
    """In good order, which it does once its input ends; by force where it does not."""
    assert process.stdin is not None, "it has one"
    process.stdin.close()
    try:
        await asyncio.to_thread(process.wait, END_WITHIN_S)
    except subprocess.TimeoutExpired:
        say(f"the daemon, process {process.pid}, did not end within {END_WITHIN_S:g} s, and is killed")
        process.kill()
        process.wait()
