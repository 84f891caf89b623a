"""Whatever a user mistypes or damages is refused in one line, with status 2 and nothing written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import examples
from tests.cli.conftest import CUZK, Cuzk, Files, refused

ROOT = Path(__file__).parents[2]
BUNDLED = examples.CIRCUITS["multiplier"]


@pytest.mark.parametrize("command", ["prove", "verify", "warmup", "history"])
@pytest.mark.parametrize("value", ["AUTO", "nonsense"])
def test_a_wrong_choice_of_kernels_is_refused_by_every_command(cuzk: Cuzk, command: str, value: str) -> None:
    said = refused(cuzk(command, env={**os.environ, "CUZK_LANES": value}))
    assert said == f"cuzk: CUZK_LANES is '{value}', expected auto, off or emulated"


def test_an_empty_choice_of_kernels_is_none(cuzk: Cuzk) -> None:
    assert "no run" in refused(cuzk("history", "show", "nothing", env={**os.environ, "CUZK_LANES": ""}))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["prvoe"], "'prove'"),  # and perhaps 'serve'
        (["bench", "batch", "--proof-type", "merkle"], "'--type'"),
        (["bench", "batch", "--conurrency", "2"], "'--concurrency'"),
        (["bench", "batch", "-t", "merkle", "--resume", "01"], "--type is that of the run"),
        (["bench", "batch", "-t", "merkle", "--inputs", "none"], "inputs: none: cannot be read"),
        (["bench", "batch", "-t", "merkle", "--due", "soon"], "due: found 'soon'"),
        (["bench", "batch", "--type", "merkel"], "did you mean 'merkle'"),
        (["sim", "run", "--type", "merkel"], "did you mean 'merkle'"),
        (["bench", "batch"], "missing option '--type'"),
        (["bench", "batch", "-t", "merkle", "--count", "0"], "--count"),
        (["bench", "batch", "-t", "merkle", "--count", "three"], "--count"),
        (["bench", "batch", "-t", "merkle", "--budget", "2 gallons"], "budget"),
        (["bench", "batch", "-t", "multiplier", "--budget", "1KiB"], "budget"),
        (["sim", "run", "-t", "multiplier", "--budget", "1KiB"], "budget"),
        (["bench", "batch", "-t", "multiplier", "--budget", "0"], "expected a size above zero"),
        (["sim", "run", "-t", "multiplier", "--budget", "0"], "expected a size above zero"),
        (["bench", "batch", "-t", "merkle", "--config", "no.toml"], "no.toml"),
        (["sim", "run", "-t", "multiplier", "--policy", "fixed:0"], "policy 'fixed:0': expected"),
        (["history", "show", "nothing"], "no run"),
        (["history", "stast"], "did you mean 'stats'"),
        (["history", "prune", "--keep", "for ever"], "--keep: for ever: expected a time with a unit"),
        (["verify", "vk.json", "public.json"], "missing argument 'proof.json'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_refused_options(cuzk: Cuzk, tmp_path: Path, arguments: list[str], said: str) -> None:
    assert said in refused(cuzk(*arguments, cwd=tmp_path)).lower()


@pytest.mark.parametrize("command", ["prove", "setup", "vkey", "verify"])
@pytest.mark.parametrize("content", [None, b"", b"not a file of ours\n", "truncated"])
def test_refused_files(cuzk: Cuzk, tmp_path: Path, command: str, content: bytes | str | None) -> None:
    bad = tmp_path / "bad"
    if content == "truncated":
        content = BUNDLED.r1cs.read_bytes()[:-40]
    if isinstance(content, bytes):
        bad.write_bytes(content)
    options = {
        "prove": [bad, BUNDLED.inputs, "--wasm", BUNDLED.wasm],
        "setup": [bad, "-o", tmp_path / "c.zkey"],
        "vkey": [bad],
        "verify": [bad, bad, bad],
    }[command]
    assert str(bad) in refused(cuzk(command, *options, cwd=tmp_path))
    assert [path for path in tmp_path.iterdir() if path != bad] == []


@pytest.mark.parametrize(
    "command",
    [
        ["prove", "no", BUNDLED.inputs],
        ["prove", BUNDLED.r1cs, "no"],
        ["prove", BUNDLED.r1cs, BUNDLED.inputs, "--wasm", "no"],
        ["prove", BUNDLED.r1cs, BUNDLED.inputs, "--r1cs", "no"],
        ["setup", "no", "-o", "c.zkey"],
        ["vkey", "no"],
        ["verify", BUNDLED.inputs, BUNDLED.inputs, "no"],
        ["verify", "no", BUNDLED.inputs, "no", "not", "none"],
    ],
)
def test_missing_files_are_refused_before_anything_slow(tmp_path: Path, command: list[object]) -> None:
    code = (
        "import sys, atexit, cli.main as m\n"
        "atexit.register(lambda: print(*{'numba', 'numpy', 'sqlalchemy', 'pydantic'} & set(sys.modules)))\n"
        "m.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, command)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "\n")
    (line,) = done.stderr.splitlines()
    missing = {name for name in command if str(name).startswith("no")}
    assert line.count("cannot be read") == len(missing)
    assert all(f"{name}: cannot be read" in line for name in missing)
    assert "check the path" in line


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["prove", "BAD", BUNDLED.inputs], "file"),
        (["prove", BUNDLED.r1cs, "BAD"], "file"),
        (["prove", BUNDLED.r1cs, "BAD", "--wasm", BUNDLED.wasm], "stream"),
        (["prove", BUNDLED.r1cs, BUNDLED.inputs, "--wasm", "BAD"], "file"),
        (["prove", BUNDLED.r1cs, BUNDLED.inputs, "--r1cs", "BAD"], "file"),
        (["setup", "BAD", "-o", "c.zkey"], "file"),
        (["vkey", "BAD"], "file"),
        (["verify", "BAD", BUNDLED.inputs, BUNDLED.inputs], "stream"),
        (["verify", BUNDLED.inputs, "BAD", BUNDLED.inputs], "stream"),
        (["verify", BUNDLED.inputs, BUNDLED.inputs, "BAD"], "stream"),
    ],
)
def test_named_pipes_and_folders_are_refused(
    cuzk: Cuzk, tmp_path: Path, command: list[object], expected: str
) -> None:
    bad = tmp_path / "bad"
    arguments = [bad if each == "BAD" else each for each in command]
    os.mkfifo(bad)
    said = f"cuzk: {bad}: is a named pipe; expected a regular file"
    if expected == "stream":
        said += ", or - for the standard input"
    assert refused(cuzk(*arguments, cwd=tmp_path)) == said
    bad.unlink()
    bad.mkdir()
    said = f"cuzk: {bad}: is a folder, expected a file: name a file in it"
    assert refused(cuzk(*arguments, cwd=tmp_path)) == said


@pytest.mark.parametrize("key", ["zkey", "wasm", "inputs", "r1cs", "witness", ""])
def test_a_named_pipe_in_the_settings_or_in_their_place_is_refused(
    cuzk: Cuzk, files: Files, tmp_path: Path, key: str
) -> None:
    os.mkfifo(tmp_path / "bad")
    paths = {"zkey": files.zkey, "wasm": files.wasm, "inputs": files.inputs, "r1cs": files.r1cs}
    if key == "witness":
        paths = {"zkey": files.zkey}
    paths[key] = tmp_path / "bad"
    (tmp_path / "own.toml").write_text(
        "\n".join(["[circuits.own]", *(f"{each} = '{path}'" for each, path in paths.items() if each)])
    )
    config = tmp_path / ("own.toml" if key else "bad")
    environment = {**os.environ, "CUZK_HOME": str(tmp_path / "home")}
    done = cuzk("bench", "batch", "-t", "own", "--config", config, env=environment)
    assert f"{tmp_path / 'bad'}: is a named pipe" in refused(done)


def test_what_is_read_as_a_stream_may_come_from_a_pipe(files: Files, tmp_path: Path) -> None:
    script = (
        f"{CUZK} verify <(cat {files.vkey}) <(cat {files.public}) <(cat {files.proof}) && "
        f"cat {files.vkey} | {CUZK} verify - {files.public} {files.proof} && "
        f"{CUZK} prove {files.zkey} <(cat {files.inputs}) --wasm {files.wasm}"
    )
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("OK\nOK\n")


@pytest.mark.parametrize(
    "command",
    [
        ["setup", "c.r1cs", "-o", "c.r1cs"],
        ["vkey", "c.r1cs", "-o", "./c.r1cs"],
        ["prove", "c.r1cs", "w", "c.r1cs", "public.json"],
        ["prove", "c.r1cs", "w", "proof.json", "link"],
        ["prove", "c.r1cs", "w", "x.json", "./x.json"],
        ["prove", "c.r1cs", "w", "x.wasm", "--wasm", "x.wasm"],
        ["prove", "c.r1cs", "w", "x.wasm", "--r1cs", "x.wasm"],
    ],
)
def test_an_output_is_no_other_file(cuzk: Cuzk, tmp_path: Path, command: list[str]) -> None:
    for name in ("c.r1cs", "w", "x.wasm"):
        (tmp_path / name).write_bytes(BUNDLED.r1cs.read_bytes())
    (tmp_path / "link").symlink_to("w")
    assert "as well, expected" in refused(cuzk(*command, cwd=tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {"c.r1cs", "w", "x.wasm", "link"}
    assert (tmp_path / "c.r1cs").read_bytes() == BUNDLED.r1cs.read_bytes()


@pytest.mark.parametrize("arguments", ["--help", "history --help", "history", "doctor", "doctor --json"])
def test_a_full_stdout_is_an_error_in_one_line(arguments: str) -> None:
    done = subprocess.run(
        f"{CUZK} {arguments} > /dev/full", shell=True, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "No space left" in line


@pytest.mark.parametrize("streams", ["2>/dev/full", ">/dev/full 2>&1"])
def test_a_full_stderr_leaves_a_refusal_its_status(streams: str) -> None:
    done = subprocess.run(f"{CUZK} prvoe {streams}", shell=True, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"")


@pytest.mark.parametrize(
    "arguments",
    [
        ["history", "sql", b"SELECT \xff"],
        ["history", "show", b"\xff"],
        ["history", "list", "--circuit", b"\xff"],
        ["bench", "batch", "-t", "multiplier", "--name", b"\xff"],
        ["verify", b"\xff", "public.json", "proof.json"],
    ],
)
def test_bytes_that_are_no_text_are_refused(tmp_path: Path, arguments: list[str | bytes]) -> None:
    done = subprocess.run([CUZK, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
    number = next(n for n, each in enumerate(arguments, 1) if isinstance(each, bytes))
    assert refused(done) == f"cuzk: argument {number}: found {arguments[number - 1]!r}, expected UTF-8"
    assert list(tmp_path.iterdir()) == []


def test_settings_of_the_environment_are_text_and_not_shown() -> None:
    environment = {**os.environb, b"CUZK_HISTORY_URL": b"postgresql://me:secret\xff@host/database"}
    done = subprocess.run([CUZK, "history"], env=environment, capture_output=True, text=True, check=False)
    assert refused(done) == "cuzk: CUZK_HISTORY_URL: expected UTF-8"


def test_a_name_is_one_line_that_steers_no_terminal(cuzk: Cuzk, tmp_path: Path) -> None:
    said = refused(cuzk("bench", "batch", "-t", "multiplier", "--name", "a\nb\x1b[31m", cwd=tmp_path))
    assert said == r"cuzk: name: found 'a\nb\x1b[31m', expected printable characters on one line"


def test_unwritable_output(cuzk: Cuzk, tmp_path: Path) -> None:
    target = tmp_path / "no" / "folder" / "c.zkey"
    assert str(target) in refused(cuzk("setup", BUNDLED.r1cs, "-o", target))


def test_unknown_setting(cuzk: Cuzk, tmp_path: Path) -> None:
    (tmp_path / "cuzk.toml").write_text("[memory]\ntotal_bugdet = '2GiB'\n")
    assert "did you mean 'memory.total_budget'" in refused(
        cuzk("bench", "batch", "-t", "merkle", cwd=tmp_path)
    )


def test_help_of_every_command(cuzk: Cuzk) -> None:
    for command in (
        "",
        "prove",
        "verify",
        "setup",
        "vkey",
        "bench batch",
        "sim run",
        "history",
        "history show",
        "history compare",
        "history export",
        "ui",
        "ui stop",
        "ui status",
        "deploy",
        "serve",
    ):
        done = cuzk(*command.split(), "--help")
        assert done.returncode == 0
        assert done.stdout.startswith("Usage: cuzk")
        assert done.stderr == ""


def test_a_closed_pipe_is_no_error() -> None:
    done = subprocess.run(
        f"{CUZK} --help | head -n 1", shell=True, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
