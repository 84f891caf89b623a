"""Runs of several histories in one: each once, whole, however often and whichever way they come."""

import csv
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select

from db import (
    Filter,
    History,
    HistoryError,
    Imported,
    Machine,
    Run,
    ask,
    list_runs,
    open_history,
    policy_events,
    prune,
    read_lines,
    rows_of_runs,
    show_run,
    size_bytes,
    vacuum,
    write_rows,
)
from db.export import export_lines, export_views
from db.log_models import DeviceSample, PolicyEvent
from db.tables import METADATA

WriteBatch = Callable[..., Run]


def make_run(name: str, **values: object) -> Run:
    given = {"source": "real", "name": name, "code_version": "1", "state": "succeeded", **values}
    return Run(**given)  # type: ignore[arg-type]  # as the test gives them


@pytest.fixture
def other(tmp_path: Path, write_batch: WriteBatch) -> Path:
    """Another host's history: two runs that are over, and one that goes on."""
    path = tmp_path / "other.db"
    with open_history(path) as history:
        machine = Machine.of({"cores": 2})
        with history.writer() as writer:
            writer.insert(machine)
        for name in ("a", "b"):
            run = write_batch(history, make_run(name, host="far", machine_id=machine.id))
            with history.writer() as writer:
                event = {"type": "Loaded", "entry_key": "srs"}
                writer.insert(PolicyEvent(run_id=run.id, sequence=0, at_s=0.0, event=event, decisions=[]))
                held = {"device": "cuda:0", "at_s": 0.0, "held_bytes": 1, "reserved_bytes": 2}
                writer.insert_values(DeviceSample, [{"run_id": run.id, "sequence": 0, **held}])
        write_batch(history, make_run("c", state="running", host="far"))
    return path


def counts(history: History) -> dict[str, int]:
    with history.read() as session:
        tables = METADATA.tables.values()
        return {t.name: session.scalar(select(func.count()).select_from(t)) or 0 for t in tables}


def test_runs_of_another_history_come_once(history: History, other: Path, tmp_path: Path) -> None:
    lines = tmp_path / "runs.jsonl"
    with open_history(other) as source:
        assert export_lines(source, lines) == 2
        assert write_rows(history, rows_of_runs(source)) == Imported(new=2, known=0)
        first = counts(history)
        assert write_rows(history, read_lines(lines)) == Imported(new=0, known=2)
        assert counts(history) == first
        assert (first["stage"], first["device_sample"]) == (48, 2)
        for summary in list_runs(history):
            was, now = (show_run(each, summary.run.id) for each in (source, history))
            assert now == was
            assert [e.event for e in policy_events(history, summary.run.id)] == [
                {"type": "Loaded", "entry_key": "srs"}
            ]
    assert {summary.run.name for summary in list_runs(history)} == {"a", "b"}


def test_the_database_of_several_hosts_takes_a_run_while_it_has_others(
    history: History, other: Path, write_batch: WriteBatch
) -> None:
    mine = write_batch(history, make_run("mine"))
    with open_history(other) as source:
        write_rows(history, rows_of_runs(source, Filter(since=datetime.now(UTC) - timedelta(days=1))))
        assert write_rows(history, rows_of_runs(source, Filter(circuit="nope"))) == Imported(0, 0)
    assert {one.run.name for one in list_runs(history)} == {"mine", "a", "b"}
    assert [one.run.id for one in list_runs(history, where=Filter(host=mine.host))] == [mine.id]


def test_a_file_that_is_none_of_ours_is_refused_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b'["insert","machine",{"id":"a","description":{}}]\n\xff\xfe nonsense\n')
    with pytest.raises(HistoryError, match=r"x, line 2: .* expected a line of a history; export it again"):
        list(read_lines(tmp_path / "x"))


@pytest.fixture
def lines(other: Path, tmp_path: Path) -> list[str]:
    """An export of two runs."""
    with open_history(other) as source:
        export_lines(source, tmp_path / "whole")
    return (tmp_path / "whole").read_text().splitlines(keepends=True)


def test_a_file_that_was_cut_or_mended_is_refused_with_nothing_written(
    history: History, lines: list[str], tmp_path: Path
) -> None:
    cut = tmp_path / "cut"
    half = len(lines) // 2
    others = [*lines[:half], *lines[half + 1 :]]
    for some in (
        [],
        lines[:1],
        lines[:half],
        lines[:-1],
        others,
        [*lines, lines[1]],
        [*lines[:-1], lines[-1][:-1]],
    ):
        cut.write_text("".join(some))
        with pytest.raises(HistoryError, match=f"^{cut}.*export it again$"):
            write_rows(history, read_lines(cut))
        assert sum(counts(history).values()) == 0
    cut.write_text("".join(['["history",3]\n', *lines[1:]]))
    with pytest.raises(HistoryError, match=r"line 1: .* expected format 2; upgrade this program"):
        write_rows(history, read_lines(cut))
    cut.write_text("".join(lines))
    assert write_rows(history, read_lines(cut)).new == 2


def test_a_file_of_the_older_format_is_taken_with_a_word(
    history: History, lines: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    old = tmp_path / "old"
    old.write_text("".join(lines[1:-1]))
    assert write_rows(history, read_lines(old)).new == 2
    assert [each.message for each in caplog.records if str(old) in each.message] == [
        f"{old}: is of an older version, which marked no end: nobody can tell if it was cut"
    ]


@pytest.mark.parametrize("damage", ['"id":null', '"id":["a"]', '"id":"x"'])
def test_a_run_with_a_row_that_is_refused_does_not_come_at_all(
    history: History, lines: list[str], tmp_path: Path, damage: str
) -> None:
    last_run = max(number for number, line in enumerate(lines) if line.startswith('["insert","run",'))
    partition = next(
        n for n, each in enumerate(lines) if n > last_run and each.startswith('["insert","partition"')
    )
    lines[partition] = re.sub(r'"id":"[^"]*"', damage, lines[partition])
    bad = tmp_path / "bad"
    bad.write_text("".join(lines))
    with pytest.raises(HistoryError, match=f"^{re.escape(history.address)} refuses a row of run "):
        write_rows(history, read_lines(bad))
    assert len(list_runs(history)) == 1
    assert (counts(history)["proof"], counts(history)["partition"]) == (2, 4)


def test_the_views_as_csv_and_parquet(history: History, tmp_path: Path, write_batch: WriteBatch) -> None:
    run = write_batch(history, make_run("a"))
    write_batch(history, make_run("sim", source="sim"))
    assert export_views(history, tmp_path / "csv", Filter(source="real")) == 1
    with (tmp_path / "csv/history_stages.csv").open() as file:
        stages = list(csv.DictReader(file))
    assert len(stages) == 24
    assert {row["run_id"] for row in stages} == {run.id}
    assert sum(float(row["seconds"]) for row in stages) == 4 * (1 + 2 + 4 + 8 + 16 + 32)
    parquet = pytest.importorskip("pyarrow.parquet")
    export_views(history, tmp_path / "parquet", kind="parquet")
    table = parquet.read_table(tmp_path / "parquet/history_stages.parquet")
    assert table.num_rows == 48
    assert str(table.schema.field("started_at").type) == "timestamp[us, tz=UTC]"
    assert sum(table["seconds"].to_pylist()) == 2 * 4 * 63


def test_an_export_that_fails_leaves_nothing(
    history: History, write_batch: WriteBatch, tmp_path: Path
) -> None:
    write_batch(history, make_run("a"))
    with pytest.raises(HistoryError, match="cannot be written: No such file or directory"):
        export_views(history, tmp_path / "no/folder")
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith((".", "no"))] == []


def test_pruning_takes_old_runs_whole_and_vacuum_their_space(
    history: History, write_batch: WriteBatch
) -> None:
    old = datetime.now(UTC) - timedelta(days=100)
    with history.writer() as writer:
        writer.insert(machine := Machine.of({"cores": 2}))
    for _ in range(30):
        write_batch(history, make_run("old", started_at=old, machine_id=machine.id))
    write_batch(history, make_run("goes on", started_at=old, state="running"))
    new = write_batch(history, make_run("new"))
    assert prune(history, datetime.now(UTC) - timedelta(days=90)) == 30
    assert prune(history, datetime.now(UTC) - timedelta(days=90)) == 0
    left = counts(history)
    assert (left["run"], left["machine"], left["stage"]) == (2, 0, 48)
    assert show_run(history, new.id).run.name == "new"
    before_bytes, after_bytes = vacuum(history)
    assert after_bytes < before_bytes
    assert size_bytes(history) == after_bytes


def test_sql_reads_and_never_writes(history: History, write_batch: WriteBatch) -> None:
    write_batch(history, make_run("a"))
    answer = ask(history, "SELECT stage, sum(seconds) AS total FROM history_stages GROUP BY 1 ORDER BY 1")
    assert answer.columns == ("stage", "total")
    assert dict(answer.rows)["prove"] == 64.0
    for statement in (
        "DELETE FROM run",
        "SELECT 1; DELETE FROM run",
        "UPDATE run SET name = 'x'",
        "UPDATE sqlite_master SET name = 'x'",
        "DROP TABLE stage",
        "SELECT * FROM nothing",
        "",
        "-- nothing",
    ):
        with pytest.raises(HistoryError) as error:
            ask(history, statement)
        assert "\n" not in str(error.value)
    assert list_runs(history)[0].run.name == "a"
    with history.writer() as writer:
        writer.insert(make_run("b"))
    assert writer.close() is None


@pytest.mark.parametrize(
    "statement",
    [
        "ATTACH DATABASE '{}' AS other",
        "VACUUM INTO '{}'",
        "PRAGMA query_only = 0",
        "PRAGMA journal_mode = DELETE",
        "SELECT * FROM pragma_journal_mode('delete')",
        "CREATE TEMP TABLE t (x)",
        "BEGIN",
    ],
)
def test_sql_opens_no_other_file_and_sets_nothing(tmp_path: Path, statement: str) -> None:
    other = tmp_path / "other.db"
    with open_history(tmp_path / "50% a?b#c.db") as history:
        with pytest.raises(HistoryError):
            ask(history, statement.format(other))
        assert not other.exists()
        assert ask(history, "SELECT name FROM pragma_table_info('run') LIMIT 1").rows == [("id",)]
        assert ask(
            history, "WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n LIMIT 3) SELECT * FROM n"
        )
        assert ask(history, "EXPLAIN QUERY PLAN SELECT * FROM run").columns
        assert ask(history, "PRAGMA table_info(run)").rows
        assert ask(history, "SELECT value FROM json_each('[7]')").rows == [(7,)]
