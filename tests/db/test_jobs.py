"""Jobs of daemons: there once they are told to be, for their own daemon alone."""

from concurrent.futures import wait
from datetime import UTC, datetime

import pytest

from db import History, HistoryError, JobRow, JobStore


def row(**values: object) -> JobRow:
    given = {"owner": "", "digest": "d", "circuit": "c", "kind": "c", "until": "verify"} | values
    return JobRow(**given)  # type: ignore[arg-type]  # a test


def test_what_is_accepted_is_there_for_another_process(history: History) -> None:
    due_at = datetime(2030, 1, 1, tzinfo=UTC)
    store = JobStore(history, "host:/a")
    rows = [row(request_id=str(number), due_at=due_at, priority="high") for number in range(20)]
    wait([store.accept(each) for each in rows])
    store.change(rows[0].id, state="done", proofs=b"\x00proof", timings={"total_s": 1.5}).result()
    store.forget([rows[1].id]).result()
    store.close()
    other = JobStore(history, "host:/a")
    found = other.all()
    assert [each.id for each in found] == [each.id for each in rows if each is not rows[1]]
    assert (found[0].state, found[0].timings, found[0].proofs) == ("done", {"total_s": 1.5}, None)
    assert found[1].due_at == due_at
    assert other.proofs(rows[0].id) == b"\x00proof"
    assert other.proofs(rows[2].id) is None
    other.close()


def test_each_daemon_has_its_own(history: History) -> None:
    stores = [JobStore(history, owner) for owner in ("a", "b")]
    for store in stores:
        store.accept(row(request_id="same")).result()
    assert [len(store.all()) for store in stores] == [1, 1]
    for store in stores:
        store.close()


def test_one_that_cannot_be_written_fails_alone(history: History) -> None:
    store = JobStore(history, "a")
    first = store.accept(row(request_id="same"))
    changes = [store.accept(row(request_id=text)) for text in ("same", "other", "more")]
    wait(changes)
    first.result()
    with pytest.raises(HistoryError):
        changes[0].result()
    assert [each.request_id for each in store.all()] == ["same", "other", "more"]
    store.close()
