"""A process that is killed in the middle leaves a history that says so, and a next run that works."""

import signal
import subprocess
import sys
from pathlib import Path

from db import list_runs, open_history, show_run
from engine import CircuitSpec, Engine, ProofRequest
from tests.engine.support import CONFIG, ROOT, limits_for, run

PROVE_FOR_EVER = """
import asyncio, sys, time
from dataclasses import replace
from pathlib import Path
from db import open_history
from engine import Engine, ProofRequest, resolve, stages
from config import Config, SrsConfig
from tests.engine.support import CONFIG, limits_for

async def main(history, params, folder):
    stages.prove_points = lambda *arguments: time.sleep(600)
    spec = resolve("multiplier", Config(srs=SrsConfig(param_cache=Path(params))))
    with open_history(history) as opened, opened.writer() as writer:
        async with Engine(CONFIG, limits_for(spec, 1), writer, "killed") as engine:
            names = ("first", "second")
            ids = [engine.submit(ProofRequest(spec, name, Path(folder) / name)) for name in names]
            await engine.wait_started(ids[0], "prove")
            writer.flush()
            print("proving", flush=True)
            await engine.result(ids[0])

asyncio.run(main(*sys.argv[1:]))
"""


def test_a_killed_run_is_closed_as_interrupted_and_the_next_one_works(
    multiplier: CircuitSpec, tmp_path: Path
) -> None:
    history, outputs = tmp_path / "history.db", tmp_path / "proofs"
    command = [sys.executable, "-c", PROVE_FOR_EVER, str(history), str(multiplier.zkey.parent), str(outputs)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "proving\n"
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()

    with open_history(history) as opened:
        killed = show_run(opened, "killed")
        assert killed.run.state == "interrupted"
        assert killed.run.ended_at is not None
        assert [detail.proof.state for detail in killed.proofs] == ["interrupted", "interrupted"]
        assert [part.partition.state for detail in killed.proofs for part in detail.partitions] == [
            "interrupted",
            "interrupted",
        ]
        assert not list(outputs.glob("*/*.json"))

        async def steps() -> None:
            with opened.writer() as writer:
                async with Engine(CONFIG, limits_for(multiplier, 1), writer, "next") as running:
                    await running.result(running.submit(ProofRequest(multiplier, "first", outputs / "first")))
                assert writer.close() is None

        run(steps())
        assert [summary.run.state for summary in list_runs(opened, 10)] == ["succeeded", "interrupted"]
    assert sorted(path.name for path in (outputs / "first").iterdir()) == ["proof.json", "public.json"]
