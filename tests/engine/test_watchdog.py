"""A run that does not get on says what it waits for and where its threads are."""

import asyncio
import logging
import threading
from pathlib import Path
from typing import Literal

import pytest

from config import LoggingConfig, TimeoutsConfig
from engine import CircuitSpec, Engine, ProofRequest, stages
from engine.watchdog import Watchdog
from flows.display.logs import run_log
from tests.engine.support import CONFIG, limits_for, run, until


def test_a_stalled_run_is_explained_once_and_then_ever_less_often(
    multiplier: CircuitSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    let_go, real = threading.Event(), stages.prove_points

    def deaf(*arguments: object) -> object:  # a kernel that never comes back
        let_go.wait(60)
        return real(*arguments)

    monkeypatch.setattr(stages, "prove_points", deaf)
    config = CONFIG.model_copy(update={"timeouts": TimeoutsConfig(stall=0.05)})

    async def steps() -> None:
        async with Engine(config, limits_for(multiplier, 1)) as running:
            ids = [running.submit(ProofRequest(multiplier, name, tmp_path / name)) for name in ("a", "b")]
            await until(lambda: caplog.text.count("nothing has got on") == 2)
            let_go.set()
            for each in ids:
                await running.result(each)

    with caplog.at_level(logging.INFO, "cuzk.engine"):
        run(steps())
    assert "a: " in caplog.text
    assert "b: " in caplog.text
    assert "waits for memory" in caplog.text
    assert "thread coordinator_" in caplog.text
    assert "in deaf" in caplog.text


def test_a_blocked_event_loop_is_named(caplog: pytest.LogCaptureFixture) -> None:
    blocked = threading.Event()

    async def steps() -> None:
        dog = Watchdog(lambda: 0, lambda: ["never asked"], 0.05)
        dog.start()
        blocked.wait(4)  # on the loop's own thread
        await asyncio.to_thread(dog.stop)

    with caplog.at_level(logging.INFO, "cuzk.engine"):
        asyncio.run(steps())
    assert "the event loop does not answer" in caplog.text
    assert "test_watchdog.py" in caplog.text


@pytest.mark.parametrize("level", ["info", "error"])
def test_where_the_threads_are_is_for_the_log_file_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], level: Literal["info", "error"]
) -> None:
    path = tmp_path / "run.log"

    async def steps() -> None:
        dog = Watchdog(lambda: 0, lambda: ["waits for memory that other processes hold"], 0.05)
        with run_log(path, LoggingConfig(level=level)):
            dog.start()
            await until(lambda: "thread MainThread" in path.read_text())
            await asyncio.to_thread(dog.stop)

    asyncio.run(steps())
    told, written = capsys.readouterr().err, path.read_text()
    for words in ("nothing has got on for", "waits for memory that other processes hold"):
        assert words in told
        assert words in written
    assert "thread " not in told
    assert ".py" not in told


def test_nothing_to_do_is_no_stall(caplog: pytest.LogCaptureFixture) -> None:
    async def steps() -> None:
        asked = []
        dog = Watchdog(lambda: 0, lambda: asked.append(1) or [], 0.02)
        dog.start()
        await until(lambda: len(asked) > 1)
        await asyncio.to_thread(dog.stop)

    asyncio.run(steps())
    assert caplog.text == ""
