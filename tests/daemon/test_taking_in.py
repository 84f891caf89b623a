"""A large input is looked at and written beside the event loop, on which everybody else is answered."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from config import load_config
from daemon import inputs, jobs
from daemon.address import parse_address
from daemon.circuits_service import CircuitsService
from daemon.client import connect
from daemon.proto.cuzk_py.v1 import circuits_pb2 as pb
from daemon.public_service import PublicService
from daemon.run import Place, _about, _opened
from daemon.server import serve
from daemon.status import Status
from db import new_id
from tests.daemon.conftest import PATIENCE_S, SETTINGS

LARGE = b'{"a": "3", "b": "11", "c": [' + b'"1", ' * 30_000 + b'"1"]}'


class Gate:
    """A step that waits until it is let go; `reached` is set on the event loop once it waits."""

    def __init__(self, step: Callable[..., Any], loop: asyncio.AbstractEventLoop) -> None:
        self.reached = asyncio.Event()
        self._step, self._loop, self._go = step, loop, threading.Event()

    def __call__(self, *arguments: Any) -> Any:
        self._loop.call_soon_threadsafe(self.reached.set)
        assert threading.current_thread() is not threading.main_thread(), "the event loop's own"
        assert self._go.wait(PATIENCE_S)
        return self._step(*arguments)

    def let_go(self) -> None:
        self._go.set()


def test_others_are_answered_while_a_large_job_is_taken_in(
    tmp_path: Path, params: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUZK_HOME", str(tmp_path))
    settings = tmp_path / "cuzk.toml"
    settings.write_text(SETTINGS.format(params=params, daemon="", more=""))
    config = load_config(settings)
    here = Place(new_id(), tmp_path / "log", tmp_path / "daemon")
    here.folder.mkdir()
    assert len(LARGE) > inputs.SMALL_BYTES

    async def live() -> list[int]:
        loop = asyncio.get_running_loop()
        gates = []
        for module, name in ((jobs, "digest_of"), (inputs, "suffix_of"), (inputs, "keep")):
            gates.append(Gate(getattr(module, name), loop))
            monkeypatch.setattr(module, name, gates[-1])
        async with _opened(config, here) as (engine, book, circuits):
            status = Status(engine, book)
            own = CircuitsService(engine, book, circuits, status, _about(here), asyncio.Event())
            public = PublicService(engine, book, circuits)
            server, where = await serve(parse_address(f"unix://{tmp_path}/s"), config.daemon, public, own)
            async with (
                asyncio.timeout(PATIENCE_S),
                connect(where.text) as client,
                connect(where.text) as other,
            ):
                submitted = asyncio.create_task(client.submit("multiplier", inputs=LARGE, request_id="r"))
                answers = []
                for gate in gates:
                    await gate.reached.wait()
                    answers.append((await other.public_status()).total_proofs_completed)
                    gate.let_go()
                job_id = await submitted
                await other.cancel(job_id)
                assert (await other.result(job_id)).state in (pb.CANCELLED, pb.FAILED)
            await server.stop(0.0)
            return answers

    assert asyncio.run(live()) == [0, 0, 0]
