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


def test_an_error_ends_as_ever_without_a_stderr() -> None:
    done = subprocess.run(f"{CUZK} prvoe 2>&-", shell=True, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
