"""Files of every kind, where a file is read: none makes the reader wait for ever."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from groth16.json_files import read_json
from groth16.opening import open_to_read
from groth16.output import replacing
from tests.groth16.samples import refuses


def test_a_named_pipe_is_refused_and_where_a_stream_will_do_that_is_said(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    refuses(read_json, pipe, "pipe: is a named pipe; expected a regular file, or - for the standard input$")
    refuses(open_to_read, link, "link: is a named pipe; expected a regular file$")


def test_folders_sockets_and_endless_devices_are_refused(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
    refuses(read_json, tmp_path / "socket", "is a socket; expected a regular file")
    refuses(read_json, tmp_path, "is a folder, expected a file")
    refuses(read_json, Path("/dev/zero"), "is a device; expected a regular file")
    refuses(read_json, Path("/dev/null"), "is empty, expected JSON")


def test_an_open_pipe_is_read_as_a_stream_only() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"[1]")
    os.close(writer)
    path = Path(f"/dev/fd/{reader}")
    refuses(open_to_read, path, "is a pipe, expected a file")
    assert read_json(path) == [1]
    os.close(reader)


def test_the_standard_input_may_be_a_named_pipe_whose_writer_has_ended(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    both = os.open(pipe, os.O_RDWR)
    reader = os.open(pipe, os.O_RDONLY)
    os.write(both, b"[1]")
    os.close(both)
    code = "from groth16.json_files import read_json; print(read_json('/dev/stdin'))"
    done = subprocess.run(
        [sys.executable, "-c", code], stdin=reader, capture_output=True, text=True, timeout=60, check=True
    )
    os.close(reader)
    assert done.stdout == "[1]\n"


def test_a_pipe_that_nobody_reads_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groth16.output._READER_WITHIN_S", 0.0)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write(path: Path) -> None:
        with replacing(path):
            pytest.fail("it was opened")

    refuses(write, pipe, "is a named pipe that nobody reads")
