"""Jobs of daemons: there once they are told to be, for their own daemon alone."""

from concurrent.futures import wait
from datetime import UTC, datetime, timedelta

import pytest

from db import History, JobRow, JobStore, JobThere


def row(**values: object) -> JobRow:
    given = {"owner": "", "digest": "d", "circuit": "c", "kind": "c", "until": "verify"} | values
    return JobRow(**given)  # type: ignore[arg-type]  # a test


def test_what_is_accepted_is_there_for_another_process(history: History) -> None:
    due_at = datetime(2030, 1, 1, tzinfo=UTC)
    store = JobStore(history, "host:/a")
    rows = [row(request_id=str(number), due_at=due_at, priority="high") for number in range(20)]
    wait([store.accept(each) for each in rows])
    store.change(rows[0].id, state="done", proofs=b"\x00proof", timings={"total_s": 1.5}).result()
    store.close()
    other = JobStore(history, "host:/a")
    unfinished = other.unfinished()
    assert [each.id for each in unfinished] == [each.id for each in rows[1:]]
    assert unfinished[0].due_at == due_at
    done = other.find(rows[0].id)
    assert done is not None
    assert (done.state, done.timings, done.proofs) == ("done", {"total_s": 1.5}, None)
    again = other.requested("7")
    assert again is not None
    assert again.id == rows[7].id
    assert other.find("no job") is other.requested("99") is None
    assert other.proofs(rows[0].id) == b"\x00proof"
    assert other.proofs(rows[2].id) is None
    other.close()


def test_each_daemon_has_its_own(history: History) -> None:
    stores = [JobStore(history, owner) for owner in ("a", "b")]
    for store in stores:
        store.accept(row(request_id="same")).result()
    assert [len(store.unfinished()) for store in stores] == [1, 1]
    (one,) = stores[0].unfinished()
    assert stores[1].find(one.id) is None
    now = datetime.now(UTC)
    stores[0].change(one.id, state="done", ended_at=now).result()
    stores[1].forget(now + timedelta(1), also_undelivered=True).result()
    assert stores[0].find(one.id) is not None
    for store in stores:
        store.close()


def test_one_that_cannot_be_written_fails_alone(history: History) -> None:
    store = JobStore(history, "a")
    first = store.accept(row(request_id="same"))
    changes = [store.accept(row(request_id=text)) for text in ("same", "other", "more")]
    wait(changes)
    first.result()
    with pytest.raises(JobThere):
        changes[0].result()
    assert [each.request_id for each in store.unfinished()] == ["same", "other", "more"]
    store.close()


def test_what_ended_before_is_forgotten_and_what_nobody_had_only_when_told(history: History) -> None:
    store = JobStore(history, "a")
    names = ("delivered", "undelivered", "late", "open")
    rows = {name: row(request_id=name) for name in names}
    wait([store.accept(each) for each in rows.values()])
    ended_at = datetime.now(UTC)
    for name, later_s in (("delivered", 0), ("undelivered", 0), ("late", 5)):
        store.change(rows[name].id, state="done", ended_at=ended_at + timedelta(seconds=later_s))
    store.change(rows["delivered"].id, delivered_at=ended_at).result()

    def left() -> list[str]:
        return [name for name in names if store.find(rows[name].id) is not None]

    store.forget(ended_at, also_undelivered=True).result()
    assert left() == [*names]
    before = ended_at + timedelta(seconds=1)
    store.forget(before, also_undelivered=False).result()
    assert left() == ["undelivered", "late", "open"]
    store.forget(before, also_undelivered=True).result()
    assert left() == ["late", "open"]
    store.close()
