"""Rows come back as they went in, on each kind of database."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from sqlalchemy import delete, func, select
from sqlalchemy.exc import StatementError
from sqlalchemy.orm import Session

from db import History, MemorySample, PolicyEvent, Proof, Record, Run


def make_run(**values: Any) -> Run:
    return Run(source="real", name="batch", code_version="1.0", **values)


def write(history: History, *rows: Record) -> None:
    with Session(history.engine) as session, session.begin():
        for row in rows:
            session.add(row)
            session.flush()


def test_values_come_back(history: History) -> None:
    values: dict[str, Any] = {
        "budget_bytes": 2**62,
        "policy_limits": {"cpus": 2, "names": ["ö", None, 1.5], "z": 1, "a": {"deep": True}},
        "started_at": datetime(2024, 2, 29, 23, 59, 59, 123456, tzinfo=UTC),
        "error": "'quotes' and \"more\"\nand a second line",
    }
    run = make_run(**values)
    write(history, run)
    with history.read() as session:
        read = session.scalars(select(Run)).one()
    assert {name: getattr(read, name) for name in values} == values
    assert list(read.policy_limits or {}) == list(values["policy_limits"])
    assert read.flow_run_id is None


def test_a_new_run_is_one_of_this_process_that_starts_now() -> None:
    run = make_run()
    assert run.state == "running"
    assert timedelta() <= datetime.now(UTC) - run.started_at < timedelta(minutes=1)
    assert run.process_started_at < run.started_at


def test_times_are_kept_as_utc(history: History) -> None:
    east = datetime(2024, 7, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    write(history, make_run(started_at=east))
    with history.read() as session:
        read = session.scalars(select(Run.started_at)).one()
    assert read == east
    assert read.tzinfo is UTC
    assert read.hour == 23


def test_a_time_without_a_zone_is_refused(history: History) -> None:
    with pytest.raises(StatementError, match="has no time zone"):
        write(history, make_run(started_at=datetime(2024, 7, 1)))


def test_nothing_of_a_deleted_run_stays(history: History) -> None:
    run = make_run()
    event = PolicyEvent(run_id=run.id, sequence=0, at_s=0.0, event={"a": 1}, decisions=[{"b": 2}])
    children = [
        Proof(run_id=run.id, name="p", circuit="c", submitted_s=0.0),
        MemorySample(run_id=run.id, sequence=0, at_s=0.5, reserved_bytes=7),
        event,
    ]
    write(history, run, *children)
    with Session(history.engine) as session, session.begin():
        session.execute(delete(Run))
    with history.read() as session:
        for model in (Proof, MemorySample, PolicyEvent):
            assert session.scalar(select(func.count()).select_from(model)) == 0
