"""What is derived from a key is made once, is of that very key, and costs no proof if it cannot be kept."""

import logging
import multiprocessing
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import kept_files, key_cache
from engine.kept_files import NONE, KeptFiles
from engine.key_cache import KeyCache, content_hash
from engine.key_notes import keeps_table
from groth16.errors import InputError
from groth16.matrices import Matrices
from groth16.temporary import create
from groth16.zkey import read_header, read_proving_key
from kernels.parallel import serial
from tests.groth16.samples import sample

LIMIT_BYTES = 1 << 20


@pytest.fixture
def zkey(tmp_path: Path) -> Path:
    path = tmp_path / "sample.zkey"
    path.write_bytes(sample("bn254", "sample.zkey").read_bytes())
    return path


@pytest.fixture
def files(tmp_path: Path) -> KeptFiles:
    return KeptFiles(tmp_path / "params" / "derived", LIMIT_BYTES)


class Calls:
    """How often each step was really taken."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.names: list[str] = []
        for name in ("read_matrices", "check_points", "content_hash"):
            patch.setattr(key_cache, name, self._counted(name, getattr(key_cache, name)))

    def _counted(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            self.names.append(name)
            return real(*arguments)

        return call

    def taken(self) -> list[str]:
        names, self.names = self.names, []
        return names


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    return Calls(monkeypatch)


def load(zkey: Path, files: KeptFiles) -> Matrices:
    KeyCache(files).check_points(read_proving_key(zkey), serial)
    return KeyCache(files).matrices(read_header(zkey), serial)


def names_in(files: KeptFiles) -> list[str]:
    return sorted(path.suffix for path in files.folder.iterdir())


def test_a_key_is_hashed_checked_and_read_once(zkey: Path, files: KeptFiles, calls: Calls) -> None:
    first = load(zkey, files)
    assert calls.taken() == ["content_hash", "check_points", "read_matrices"]
    second = load(zkey, files)
    assert calls.taken() == []
    assert np.array_equal(first.a.unit_columns, second.a.unit_columns)
    assert not first.a.unit_columns.flags.writeable  # the first one, too, shares the file's pages
    assert names_in(files) == [".checked-1", ".content", ".matrices-2"]


def test_a_copy_of_the_key_is_hashed_and_nothing_more(zkey: Path, files: KeptFiles, calls: Calls) -> None:
    load(zkey, files)
    copy = zkey.with_name("copy.zkey")
    copy.write_bytes(zkey.read_bytes())
    calls.taken()
    load(copy, files)
    assert calls.taken() == ["content_hash"]


def test_a_key_changed_in_place_is_read_again_also_with_its_old_time(
    zkey: Path, files: KeptFiles, calls: Calls
) -> None:
    n_units = len(load(zkey, files).a.unit_columns)
    calls.taken()
    before, header = zkey.stat(), read_header(zkey)
    with zkey.open("r+b") as file:
        file.seek(header.container.sections[4].offset_bytes + 4 + 12)
        file.write(b"\1")
    os.utime(zkey, ns=(before.st_atime_ns, before.st_mtime_ns))
    changed = load(zkey, files)
    assert calls.taken() == ["content_hash", "check_points", "read_matrices"]
    assert len(changed.a.unit_columns) == n_units - 1


def test_a_bad_point_is_found_every_time(zkey: Path, files: KeptFiles) -> None:
    header = read_header(zkey)
    with zkey.open("r+b") as file:
        file.seek(header.container.sections[9].offset_bytes)
        file.write(b"\1")
    for _ in range(2):
        with pytest.raises(InputError, match="not on"):
            load(zkey, files)
    assert ".checked-1" not in names_in(files)


@pytest.mark.parametrize("damage", ["cut", "changed"])
def test_a_damaged_file_is_made_again_with_a_word(
    zkey: Path, files: KeptFiles, calls: Calls, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    expected = load(zkey, files).b.unit_columns.tolist()
    (path,) = files.folder.glob("*.matrices-*")
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.unlink()
    path.write_bytes(data if damage == "changed" else data[:-40])
    calls.taken()
    with caplog.at_level(logging.WARNING):
        assert load(zkey, files).b.unit_columns.tolist() == expected
    assert calls.taken() == ["read_matrices"]
    (record,) = caplog.records
    assert str(path) in record.message
    assert record.message.endswith("it is made again")
    load(zkey, files)
    assert calls.taken() == []


@pytest.mark.parametrize("text", ["", "0" * 64, "of another key"])
def test_a_note_that_is_not_the_keys_own_is_made_again(
    zkey: Path, files: KeptFiles, calls: Calls, text: str
) -> None:
    load(zkey, files)
    (note,) = files.folder.glob("*.content")
    if text == "of another key":
        copy = zkey.with_name("copy.zkey")
        copy.write_bytes(zkey.read_bytes())
        load(copy, files)
        (other,) = set(files.folder.glob("*.content")) - {note}
        text = other.read_text()
    note.write_text(text)
    calls.taken()
    load(zkey, files)
    assert calls.taken() == ["content_hash"]
    load(zkey, files)
    assert calls.taken() == []


def test_what_is_no_file_costs_a_warning_each_and_a_pipe_is_replaced(
    zkey: Path,
    files: KeptFiles,
    calls: Calls,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = load(zkey, files).b.unit_columns.tolist()
    for path in files.folder.iterdir():
        path.unlink()
        os.mkfifo(path)
    calls.taken()
    load(zkey, files)
    assert calls.taken() == ["content_hash", "check_points", "read_matrices"]
    kept = sorted(map(str, files.folder.iterdir()))
    assert sorted(record.message.split(": ")[0] for record in caplog.records) == kept
    caplog.clear()
    monkeypatch.setattr(kept_files, "_warned", set())
    assert all(path.is_file() for path in files.folder.iterdir())
    for path in files.folder.iterdir():
        path.unlink()
        path.mkdir()
    for _ in range(2):
        assert load(zkey, files).b.unit_columns.tolist() == expected
    assert sorted(record.message.split(": ")[0] for record in caplog.records) == kept
    assert all("is a folder" in record.message for record in caplog.records)


def test_a_table_is_made_once_and_again_where_its_file_is_damaged(
    zkey: Path, files: KeptFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, made = read_proving_key(zkey), []
    real = key_cache.make_table
    monkeypatch.setattr(key_cache, "make_table", lambda *arguments: made.append(1) or real(*arguments))
    assert not keeps_table(zkey, files)
    expected = KeyCache(files).table(key, serial).points.tobytes()
    assert keeps_table(zkey, files)
    assert KeyCache(files).table(key, serial).points.tobytes() == expected
    assert len(made) == 1
    (path,) = files.folder.glob("*.table-*")
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.unlink()
    path.write_bytes(data)
    assert KeyCache(files).table(key, serial).points.tobytes() == expected
    assert len(made) == 2
    assert KeyCache(NONE).table(key, serial).points.tobytes() == expected
    assert not keeps_table(zkey, NONE)


def test_nothing_is_kept_where_nothing_may_be(zkey: Path, calls: Calls) -> None:
    load(zkey, NONE)
    load(zkey, NONE)
    assert calls.taken() == ["check_points", "read_matrices"] * 2


@pytest.mark.parametrize("why", ["is a file", "is full"])
def test_a_folder_that_cannot_be_used_costs_one_warning(
    zkey: Path, files: KeptFiles, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, why: str
) -> None:
    if why == "is a file":
        files.folder.parent.write_text("")
    else:

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        monkeypatch.setattr(Path, "touch", full)
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            assert load(zkey, files).n_rows == 16
    (record,) = caplog.records
    assert str(files.folder) in record.message
    if why == "is full":
        assert list(files.folder.iterdir()) == []


def test_a_key_replaced_while_it_is_read_is_kept_under_no_name(
    zkey: Path, files: KeptFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = key_cache.read_matrices

    def replacing(header: Any, run: Any) -> Matrices:
        zkey.touch()
        return real(header, run)

    monkeypatch.setattr(key_cache, "read_matrices", replacing)
    KeyCache(files).matrices(read_header(zkey), serial)
    assert names_in(files) == [".content"]


def test_the_least_recently_used_files_go_first(tmp_path: Path) -> None:
    files = KeptFiles(tmp_path, 40_000)
    assert files.usable()
    for age, name in enumerate("abc"):
        files.keep(name, lambda path: path.write_bytes(bytes(12_000)), 12_000)
        os.utime(tmp_path / name, (age, age))
    assert files.used("a")  # now the most recently used one
    files.keep("d", lambda path: path.write_bytes(bytes(20_000)), 20_000)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "d"]
    files.keep("e", lambda path: path.write_bytes(bytes(50_000)), 50_000)
    assert not (tmp_path / "e").exists()
    assert (tmp_path / "d").exists()


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    files = KeptFiles(tmp_path, LIMIT_BYTES)
    (tmp_path / ".x.matrices.1.tmp").touch()
    with create(tmp_path / "y.matrices") as file:
        files.keep("z", Path.touch)
        assert sorted(path.name for path in tmp_path.iterdir()) == [Path(file.name).name, "z"]


def _load_in_a_process(zkey: Path, files: KeptFiles) -> int:
    return int(load(zkey, files).a.unit_starts[-1])


def test_processes_at_once_agree(zkey: Path, files: KeptFiles) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        found = pool.starmap(_load_in_a_process, [(zkey, files)] * 4)
    assert len(set(found)) == 1
    assert names_in(files) == [".checked-1", ".content", ".matrices-2"]


def test_the_hash_depends_on_every_block_and_the_length(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_cache, "_BLOCK_BYTES", 4)
    path, seen = tmp_path / "f", set()
    for data in (b"", b"abcd", b"abcdefgh", b"abcdefg", b"efghabcd", b"abcdefgi"):
        path.write_bytes(data)
        seen.add(content_hash(path, serial))
    assert len(seen) == 6
