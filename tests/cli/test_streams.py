"""Streams that are closed before a command begins."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import CUZK

ROOT = Path(__file__).parents[2]
CLOSED = {">&-": [1], "2>&-": [2], ">&- 2>&-": [1, 2]}


@pytest.mark.parametrize("closed", CLOSED)
@pytest.mark.parametrize("command", ["torture --seeds 2 --jobs 1", "history", "--version"])
def test_work_is_done_without_a_word_where_nobody_reads(command: str, closed: str) -> None:
    done = subprocess.run(f"{CUZK} {command} {closed}", shell=True, capture_output=True, check=False)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)
    if 1 in CLOSED[closed]:
        assert done.stdout == b""
    if 2 in CLOSED[closed]:
        assert b"torturing" not in done.stdout


@pytest.mark.parametrize("closed", CLOSED)
def test_no_file_gets_the_descriptor_of_a_missing_stream(tmp_path: Path, closed: str) -> None:
    code = (
        "import subprocess, sys; from cli.streams import replace_missing; replace_missing(); "
        "file = open(sys.argv[1], 'w'); print('words'); print('words', file=sys.stderr); "
        "subprocess.run('echo words; echo words >&2', shell=True, check=True); "
        "file.write(str(file.fileno()))"
    )
    written = tmp_path / "file"
    command = f'"{sys.executable}" -c "{code}" "{written}" {closed}'
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(command, shell=True, env=environment, capture_output=True, check=True)
    assert int(written.read_text()) > 2


@pytest.mark.parametrize("closed", ["stdout", "stderr"])
@pytest.mark.parametrize(("failed", "status"), [(False, 0), (True, 1)])
def test_the_status_tells_of_the_work_where_a_reader_has_gone(closed: str, failed: bool, status: int) -> None:
    code = (
        "import sys, click; import cli.main as m\n"
        "def work():\n"
        f"    print('x' * 100_000, file=sys.{closed}, flush=True); print('more', file=sys.{closed})\n"
        f"    sys.exit({int(failed)})\n"
        "m.cli.add_command(click.Command('work', callback=work)); sys.argv = ['cuzk', 'work']; m.main()"
    )
    reader, writer = os.pipe()
    os.close(reader)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, closed: writer}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False, **streams)
    os.close(writer)
    assert (done.returncode, done.stdout or b"", done.stderr or b"") == (status, b"", b"")


def test_a_closed_pipe_leaves_a_command_its_status() -> None:
    command = f"set -o pipefail; {CUZK} --help | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_an_error_ends_as_ever_without_a_stderr() -> None:
    done = subprocess.run(f"{CUZK} prvoe 2>&-", shell=True, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
