"""Each question of `cuzk history`, asked of a small history: tables for people, JSON for programs."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from cli.history import history as command
from db import HistoryError, MemorySample, Partition, Proof, Run, Stage, list_runs, open_history
from groth16.errors import InputError
from tests.cli.conftest import CUZK

START = datetime(2026, 3, 2, 12, tzinfo=UTC)
Ask = Callable[..., Result]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of five proofs, the second twice as slow, and one that failed."""
    path = tmp_path_factory.mktemp("history") / "h.db"
    with open_history(path) as history, history.writer() as writer:
        for number, (version, prove_s) in enumerate((("1.0", 4.0), ("1.1", 8.0))):
            run = Run(
                source="real", name=f"run {number}", code_version=version, state="succeeded", host="box",
                started_at=START + timedelta(days=number), proof_count=5, budget_bytes=2**30,
            )  # fmt: skip
            writer.insert(run)
            for proof in range(5):
                write_proof(writer, run, f"merkle <{proof}>", prove_s + proof / 100)
            for second in range(10):
                writer.insert(
                    MemorySample(
                        run_id=run.id, sequence=second, at_s=second, rss_bytes=second << 26,
                        reserved_bytes=2**29,
                    )
                )  # fmt: skip
        before = START - timedelta(hours=1)
        failed = Run(source="real", name="bad", code_version="1.1", state="failed", started_at=before)
        proof = Proof(
            run_id=failed.id, name="p", circuit="merkle", state="failed", submitted_s=0.0,
            error="the disk is full",
        )  # fmt: skip
        writer.insert(failed, proof, Partition(proof_id=proof.id, index=0, state="failed"))
    return path


def write_proof(writer: object, run: Run, name: str, prove_s: float) -> None:
    proof = Proof(
        run_id=run.id, name=name, circuit="merkle", state="succeeded", submitted_s=0.0, ended_s=prove_s + 1
    )
    part = Partition(proof_id=proof.id, index=0, state="succeeded", device="cpu")
    spans = [("wait", 0.0, 1.0, "memory"), ("prove", 1.0, 1.0 + prove_s, None)]
    stages = [
        Stage(partition_id=part.id, sequence=n, name=s, started_s=a, ended_s=b, wait_cause=c)  # type: ignore[arg-type]
        for n, (s, a, b, c) in enumerate(spans)
    ]
    writer.insert(proof, part, *stages)  # type: ignore[attr-defined]


@pytest.fixture
def ask(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Ask:
    """Ask, in UTC, and expect an answer."""
    monkeypatch.setenv("CUZK_HISTORY_URL", str(path))
    monkeypatch.setenv("CUZK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.chdir(tmp_path)

    def asked(*arguments: object) -> Result:
        return CliRunner().invoke(command, list(map(str, arguments)), catch_exceptions=False)

    return asked


def run_ids(path: Path) -> list[str]:
    with open_history(path) as history:
        by_name = {summary.run.name: summary.run.id for summary in list_runs(history)}
    return [by_name["run 0"], by_name["run 1"]]


def cells(line: str) -> list[str]:
    return re.split(r" {2,}", line.strip())


def table(result: Result) -> list[list[str]]:
    assert result.exit_code == 0, result.output
    return [cells(line) for line in result.output.splitlines()[2:] if line.strip()]


def test_runs_are_listed_and_filtered(ask: Ask) -> None:
    assert [row[2:4] for row in table(ask("list"))] == [
        ["run 1", "succeeded"], ["run 0", "succeeded"], ["bad", "failed"],
    ]  # fmt: skip
    assert [row[2] for row in table(ask("--limit", 1))] == ["run 1"]
    assert [row[2] for row in table(ask("list", "--state", "failed"))] == ["bad"]
    assert [row[2] for row in table(ask("list", "--since", "2026-03-03"))] == ["run 1"]
    assert ask("list", "--host", "nowhere").output == "no run matches\n"
    assert ask("list", "--device", "nowhere").output == "no run matches\n"
    assert [row[2] for row in table(ask("list", "--device", "cpu"))] == ["run 1", "run 0"]
    newest = json.loads(ask("list", "--json").output)[0]
    assert (newest["name"], newest["started_at"]) == ("run 1", "2026-03-03T12:00:00+00:00")
    assert newest["proofs_asked"] == newest["proofs_succeeded"] == 5
    assert newest["seconds"] == pytest.approx(9.04)


def test_statistics(ask: Ask) -> None:
    rows = {tuple(row[:2]): row[2:] for row in table(ask("stats", "--by", "version", "--circuit", "merkle"))}
    assert rows["1.0", "prove"] == ["5", "4.02 s", "4.02 s", "4.04 s", "4.04 s", "4.04 s"]
    (row,) = [r for r in json.loads(ask("stats", "--by", "host", "--json").output) if r["stage"] == "prove"]
    assert (row["group"], row["count"]) == (["box"], 10)
    assert ask("stats", "--circuit", "none").output == "nothing in the history matches\n"
    assert "did you mean 'version'" in ask("stats", "--by", "versoin").output
    assert "'host' twice" in ask("stats", "--by", "host,circuit,host").output


def test_two_runs_are_compared(ask: Ask, path: Path) -> None:
    first, second = run_ids(path)
    rows = {row[0]: row[1:] for row in table(ask("compare", first, second))}
    assert rows["prove"][:3] == ["4.02 s", "8.02 s", "+99.5 %"]
    assert rows["prove"][-1] == "slower"
    assert rows["wait"][-1] == "noise"
    assert table(ask("compare", second, first))[1][-1] == "faster"


def test_a_trend_names_the_version_that_is_slower(ask: Ask) -> None:
    rows = table(ask("trend"))
    assert [row[:3] for row in rows] == [["merkle", "1.0", "5"], ["merkle", "1.1", "5"]]
    assert rows[1][-1] == "slower"
    assert [row[1] for row in table(ask("trend", "--by", "week", "--stage", "wait"))] == ["2026-W10"]


def test_failures_and_waits(ask: Ask) -> None:
    said = ask("failures").output
    assert ["merkle", "11", "1", "9.1 %", "0", "0"] in [cells(line) for line in said.splitlines()]
    assert "the disk is full" in said
    assert "the disk is full" not in ask("failures", "--device", "cpu").output
    assert table(ask("waits")) == [["merkle", "memory", "10.00 s", "11", "0.909 s"]]


def test_sql_reads(ask: Ask) -> None:
    question = "SELECT proof, seconds FROM history_stages WHERE stage = 'wait' LIMIT 1"
    assert ask("sql", "--csv", question).output == "proof,seconds\nmerkle <0>,1.0\n"
    assert json.loads(ask("sql", "--json", question).output) == [{"proof": "merkle <0>", "seconds": 1.0}]
    assert table(ask("sql", question)) == [["merkle <0>", "1.0"]]


def test_sql_answers_what_json_and_terminals_cannot_show(ask: Ask) -> None:
    assert json.loads(ask("sql", "--json", "SELECT 1e400 AS i, -1e400 AS j").output) == [
        {"i": "inf", "j": "-inf"}
    ]
    assert table(ask("sql", "SELECT char(27) || '[31mred[/bold]' AS '[a]'")) == [[r"\x1b[31mred[/bold]"]]
    with pytest.raises(HistoryError, match="two columns 'a'"):
        ask("sql", "--json", "SELECT 1 AS a, 2 AS a")
    assert ask("sql", "--csv", "SELECT 1 AS a, 2 AS a").output == "a,a\n1,2\n"
    assert ask("sql", "--csv", "--json", "SELECT 1").exit_code == 2


def test_a_run_is_drawn(ask: Ask, path: Path, tmp_path: Path) -> None:
    first, _ = run_ids(path)
    lines = ask("show", first).output.splitlines()
    (drawn,) = [line for line in lines if line.startswith("merkle <0>  ") and "P" in line]
    assert re.fullmatch(r"merkle <0> +·+P+", drawn)
    assert drawn.count("P") == pytest.approx(4 * drawn.count("·"), abs=2)
    assert sum("█" in line for line in lines) > 3
    assert ask("show", first, "--html", tmp_path / "p.html").output.strip() == str(tmp_path / "p.html")
    page = (tmp_path / "p.html").read_text()
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    link.symlink_to("linked.html")
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    for special in (link, pipe):
        ask("show", first, "--html", special)
    os.close(reader)
    assert (tmp_path / "linked.html").read_text() == page
    assert link.is_symlink()
    assert pipe.is_fifo()
    with pytest.raises(InputError, match=r"is the input .* as well, expected another file to write"):
        ask("show", first, "--html", path)
    bars = re.findall(r'<rect class="prove".*?</rect>', page)
    assert len(bars) == 5
    for drawing in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        ElementTree.fromstring(drawing)
    assert "merkle &lt;0&gt;" in page
    assert not re.search(r"(src|href)=|url\(|http", page)
    assert json.loads(ask("show", first, "--json").output)["each_proof"][0]["prove_s"] == 4.0


def test_runs_go_from_one_history_to_another(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, path: Path
) -> None:
    assert ask("export", tmp_path / "runs").output == f"3 runs in {tmp_path}/runs\n"
    for kind in ("json", "csv"):
        with pytest.raises(HistoryError, match="no run that is over matches"):
            ask("export", tmp_path / kind, "--circuit", "nope", "--format", kind)
        assert not (tmp_path / kind).exists()
    monkeypatch.setenv("CUZK_HISTORY_URL", str(tmp_path / "another.db"))
    with pytest.raises(HistoryError, match="is a folder"):
        ask("import", tmp_path)
    another = tmp_path / "another.db"
    said = ask("import", tmp_path / "runs", path).output.splitlines()
    assert said[0].startswith(f"{tmp_path}/runs: 3 new runs in {another}; list them: ")
    assert said[1] == f"{path}: nothing new: 3 runs, already in {another}"
    assert len(table(ask("list"))) == 3
    assert "deleted 1 run begun" in ask("prune", "--keep", "2026-03-02T11:30").output
    assert f"{path}: 1 new run in {another}, 2 were there already; list them" in ask("import", path).output
    assert "deleted 3 runs" in ask("prune", "--keep", "2026-03-10").output
    assert "before" in ask("vacuum").output
    assert ask("list").output.startswith("no runs yet in ")


@pytest.mark.parametrize(
    "arguments",
    ["prune --keep 90", "prune --keep 20260301", "list --since 5", "list --until 2026", "stats --since 1.5"],
)
def test_a_span_of_time_without_its_unit_is_refused(ask: Ask, arguments: str) -> None:
    command, option, value = arguments.split()
    said = ask(command, option, value)
    expected = "expected a time with a unit, such as 90d, 12h, or a date 2026-03-01"
    assert (said.exit_code, said.output.splitlines()[-1]) == (2, f"Error: {option}: {value}: {expected}")
    assert len(table(ask("list"))) == 3


@pytest.mark.parametrize("value", ["9999-12-30", "0001-01-01T00:00+14:00"])
def test_what_is_kept_began_in_the_past(ask: Ask, value: str) -> None:
    assert ask("prune", "--keep", value).exit_code == 2
    assert len(table(ask("list"))) == 3


def test_an_export_to_stdout_is_what_import_takes(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In a process of its own: stdout is the process's."""
    export = f"{CUZK} history export"
    run = partial(subprocess.run, shell=True, capture_output=True, text=True, check=False)
    for target in ("-", "- | cat"):
        done = run(f"{export} {target}")
        assert (done.returncode, done.stderr) == (0, "3 runs in /dev/stdout\n")
        (tmp_path / "runs").write_text(done.stdout)
    assert (none := run(f"{export} - --circuit nope")).stdout == ""
    assert "no run that is over matches" in none.stderr
    assert "expected a folder" in run(f"{export} - --format csv").stderr
    assert {each.name for each in tmp_path.iterdir()} <= {"runs", "home"}
    monkeypatch.setenv("CUZK_HISTORY_URL", str(tmp_path / "another.db"))
    assert "3 new runs" in ask("import", tmp_path / "runs").output


@pytest.mark.parametrize(
    "content",
    [b"SQLite format 3\0 and nothing else", b"", "another program's", "postgresql://u:secret@127.0.0.1:1/x"],
)
def test_a_source_that_cannot_be_used_is_named_and_not_the_history(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes | str
) -> None:
    monkeypatch.setenv("CUZK_HISTORY_URL", str(tmp_path / "mine.db"))
    source = str(tmp_path / "source")
    if isinstance(content, bytes):
        Path(source).write_bytes(content)
    elif "://" in content:
        pytest.importorskip("psycopg")
        source = content
    else:
        with closing(sqlite3.connect(source)) as foreign:
            foreign.execute("CREATE TABLE its_own (x)")
    with pytest.raises(HistoryError) as error:
        ask("import", source)
    said = str(error.value)
    assert said.startswith(source.replace("secret", "***"))
    assert said.endswith(("name another SOURCE", "export it again"))
    assert "CUZK_HISTORY_URL" not in said


@pytest.mark.parametrize("source", ["/proc/self/mem", "x" * 300])
def test_a_source_that_cannot_be_read_is_refused(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, source: str
) -> None:
    monkeypatch.setenv("CUZK_HISTORY_URL", str(tmp_path / "mine.db"))
    with pytest.raises(HistoryError, match=f"^{source}: cannot be read .*name another SOURCE$"):
        ask("import", source)


def test_a_target_that_cannot_be_made_is_refused(ask: Ask) -> None:
    with pytest.raises(HistoryError, match=r"^x*: cannot be written: File name too long"):
        ask("export", "x" * 300)
