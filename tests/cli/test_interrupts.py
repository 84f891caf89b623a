"""Interrupts inside of library code, and what is only taken for one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from pydantic import BaseModel, model_serializer
from pydantic_core import PydanticSerializationError

from cli.interrupts import is_interrupt
from cli.main import cli, main
from tests.cli.conftest import Files

ROOT = Path(__file__).parents[2]


class Interrupted(BaseModel):
    @model_serializer
    def fail(self) -> str:
        raise KeyboardInterrupt


def wrapped() -> None:
    Interrupted().model_dump()


def hidden() -> None:
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        raise ValueError("could not import") from None


def worded() -> None:
    raise PydanticSerializationError("Error calling function `fail`: KeyboardInterrupt")


def grouped() -> None:
    raise BaseExceptionGroup("of tasks", [ValueError("no"), KeyboardInterrupt()])


def looped() -> None:
    error = ValueError("its own cause")
    raise error from error


def ended() -> None:
    raise EOFError("the file ends too early")


def run(monkeypatch: pytest.MonkeyPatch, work: object) -> None:
    """`cuzk work` in this process, which a later signal must not end."""
    monkeypatch.setattr("cli.main.end_soon_after_a_signal", lambda: None)
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    monkeypatch.setitem(cli.commands, "work", click.Command("work", callback=work))  # type: ignore[arg-type]
    monkeypatch.setattr(sys, "argv", ["cuzk", "work"])
    try:
        main()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@pytest.mark.parametrize("work", [wrapped, hidden, worded, grouped])
def test_an_interrupt_that_a_library_wraps_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], work: object
) -> None:
    with pytest.raises(SystemExit) as end:
        run(monkeypatch, work)
    assert end.value.code == 130
    assert capsys.readouterr().err.strip() == "cuzk: interrupted"


@pytest.mark.parametrize(("work", "kind"), [(ended, EOFError), (looped, ValueError)])
def test_a_fault_is_no_interrupt(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    work: object,
    kind: type[Exception],
) -> None:
    with pytest.raises(kind) as caught:
        run(monkeypatch, work)
    assert not is_interrupt(caught.value)
    assert "interrupted" not in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_a_library_works_ends_with_130(number: signal.Signals) -> None:
    code = (
        "import os, signal, sys, click; from pydantic import BaseModel, model_serializer\n"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"  # nohup has programs ignore it
        "import cli.main as m\n"
        "class Slow(BaseModel):\n"
        "    @model_serializer\n"
        f"    def wait(self): os.kill(os.getpid(), {int(number)})\n"
        "m.cli.add_command(click.Command('work', callback=lambda: Slow().model_dump()))\n"
        "sys.argv = ['cuzk', 'work']; m.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (130, "cuzk: interrupted")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_prove_ends_though_its_worker_is_stuck_in_a_system_call(
    files: Files, tmp_path: Path, number: signal.Signals
) -> None:
    code = (
        "import os, sys, cli.main as m, engine.circuit as c\n"
        "def stuck(_):\n"
        "    os.mkfifo('pipe'); print('stuck', flush=True); open('pipe')\n"
        "c.read_inputs = stuck\n"
        "m.main()"
    )
    arguments = ["prove", files.zkey, files.inputs, "--wasm", files.wasm]
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "stuck\n"
    process.send_signal(number)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert complaint.splitlines()[-1].startswith("cuzk: interrupted; ended without waiting")
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]
