from __future__ import annotations

from pathlib import Path

import pytest

from groth16.errors import InputError
from groth16.json_files import read_json, write_json
from groth16.output import replacing
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
