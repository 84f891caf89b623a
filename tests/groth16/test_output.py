from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from groth16.container_writer import payload, write_container
from groth16.errors import InputError
from groth16.json_files import read_json, write_json
from groth16.output import check_folder, check_outputs, is_stdout, make_folder, replacing
from tests.groth16.samples import refuses


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail_halfway() -> None:
        with replacing(path) as file:
            file.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_halfway()
    assert [entry.read_bytes() for entry in tmp_path.iterdir()] == [b"old"]


def test_a_finished_write_replaces_the_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with replacing(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert [entry.read_bytes() for entry in tmp_path.iterdir()] == [b"new"]


def test_an_impossible_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "missing" / "file", tmp_path / "folder"):
        with pytest.raises(InputError, match=f"{path}: cannot be written"):
            write_json(path, {})
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        ("{", "no valid JSON"),
        ("\xff", "no valid JSON"),
        ("[" * 5000, "no valid JSON"),
        ("1" * 5000, "no valid JSON"),
    ],
)
def test_what_is_no_json_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(text.encode("latin-1"))
    refuses(read_json, path, words)


def test_a_link_stays_and_the_file_it_leads_to_is_replaced(tmp_path: Path) -> None:
    folder, link = tmp_path / "folder", tmp_path / "link"
    folder.mkdir()
    link.symlink_to("folder/file")
    for old in (False, True):  # not there yet, and there
        assert (folder / "file").exists() == old
        write_json(link, old)
        assert link.is_symlink()
        assert read_json(folder / "file") is old
    assert [entry.name for entry in folder.iterdir()] == ["file"]


def test_a_pipe_is_written_and_stays(tmp_path: Path) -> None:
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write_container(pipe, "test", 1, [payload(1, b"abc")], aligned=True)
    reader.join()
    write_container(tmp_path / "file", "test", 1, [payload(1, b"abc")], aligned=True)
    assert got == [(tmp_path / "file").read_bytes()]
    assert pipe.is_fifo()


@pytest.mark.parametrize("size_bytes", [1, 1 << 20])  # the first shows at close only
def test_a_full_device_is_an_error_in_one_line(size_bytes: int) -> None:
    full = Path("/dev/full")
    with pytest.raises(InputError, match=r"/dev/full: cannot be written.*No space left"):
        write_json(full, "x" * size_bytes)
    assert full.is_char_device()


def test_outputs_are_apart_from_inputs_and_each_other(tmp_path: Path) -> None:
    old, new, link = (tmp_path / name for name in ("old", "new", "link"))
    old.write_bytes(b"old")
    link.symlink_to(old)
    again = tmp_path / ".." / tmp_path.name / "new"
    check_outputs([old, new], [tmp_path / "input"])
    check_outputs([Path("/dev/null"), Path("/dev/null")], [])
    for outputs, inputs, words in (
        ([old], [old], "old: is the input .*old as well"),
        ([new, link], [old], "link: is the input .*old as well"),
        ([new, again], [], "new: is the output .*new as well"),
        ([old, link], [], "link: is the output .*old as well"),
    ):
        with pytest.raises(InputError, match=words):
            check_outputs(outputs, inputs)


def test_outputs_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "missing" / "file")
    for path in (tmp_path, tmp_path / "missing" / "file", link):
        with pytest.raises(InputError, match=f"{path}: cannot be written"):
            check_outputs([path], [])


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    check_folder(tmp_path / "one" / "two")
    assert not (tmp_path / "one").exists()
    make_folder(tmp_path / "one" / "two")
    make_folder(tmp_path / "one" / "two")
    for folder in (file, file / "one"):
        for refuse in (check_folder, make_folder):
            with pytest.raises(InputError, match=f"{folder}: cannot be (written|made)"):
                refuse(folder)


def test_what_stdout_leads_to_is_known_and_kept(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    stdout = Path("/dev/stdout")  # a regular file under capfd
    os.write(1, b"before\n")
    write_json(stdout, "result")
    assert is_stdout(stdout)
    assert not is_stdout(tmp_path / "missing")
    assert capfd.readouterr().out == 'before\n"result"\n'


def test_a_key_named_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text('{"a": {"b": 1, "b": 1}}')
    refuses(read_json, path, 'names "b" twice')
