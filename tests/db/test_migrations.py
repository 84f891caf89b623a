"""From each released schema, with data, up and down again: nothing is lost that the older schema can hold."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, text

import db
from db import open_history, show_run
from db.connect import connect, parse_address, write_transaction
from db.migrate import downgrade, upgrade
from db.schema import VERSION_TABLE, read_revision

RUN, PROOF, PART = (f"0190000{n}-0000-7000-8000-000000000000" for n in (1, 2, 3))
STAGES = ("wait", "load", "synthesize", "queue", "prove", "verify")
MACHINE = {"cores": 8, "available_bytes": 5}
LIMITS = {"budget_bytes": 7}
ADMITTED = {"type": "Admit", "partition": [PROOF, 0], "reserved_bytes": 9}
LOAD = {"type": "Load", "entry": {"key": "srs", "size_bytes": 3}}


@pytest.fixture
def engine(address: str) -> Any:
    engine = connect(parse_address(address))
    yield engine
    engine.dispose()


def fill(connection: Connection, cause: bool) -> None:
    """A run of one partition as revision 0001, or, with causes of waits, 0002 kept it."""
    insert_into(
        connection,
        "run",
        id=RUN, source="real", name="old", state="succeeded", started_at="2024-07-01 12:00:00.000000+00:00",
        ended_at="2024-07-01 12:01:00.000000+00:00", host="h", pid=1,
        process_started_at="2024-07-01 11:00:00.000000+00:00", machine=json.dumps(MACHINE),
        config=json.dumps({"policy": "budget"}), policy_limits=json.dumps(LIMITS), code_version="1",
    )  # fmt: skip
    insert_into(
        connection, "proof", id=PROOF, run_id=RUN, name="p", circuit="c", priority="normal",
        partition_count=1, state="succeeded", submitted_s=0.0, ended_s=6.0,
    )  # fmt: skip
    insert_into(connection, "partition", id=PART, proof_id=PROOF, index=0, state="succeeded", device="cpu")
    for number, name in enumerate(STAGES):
        more = {"wait_cause": "memory"} if cause and name == "wait" else {}
        insert_into(
            connection, "stage", id=f"{RUN[:-1]}{number}", partition_id=PART, name=name,
            started_s=float(number), ended_s=number + 1.0, **more,
        )  # fmt: skip
    for number in range(3):
        insert_into(
            connection, "memory_sample", run_id=RUN, at_s=number / 2, rss_bytes=number, reserved_bytes=1
        )
    decisions = json.dumps([ADMITTED, LOAD])
    insert_into(
        connection, "policy_event", run_id=RUN, sequence=0, at_s=0.5, event='{"type": "Tick"}',
        decisions=decisions,
    )  # fmt: skip


def insert_into(connection: Connection, table: str, **values: Any) -> None:
    names = ", ".join(f'"{name}"' for name in values)
    connection.execute(
        text(f'INSERT INTO "{table}" ({names}) VALUES ({", ".join(f":{name}" for name in values)})'), values
    )


def former(engine: Engine, revision: str) -> None:
    with write_transaction(engine) as connection:
        upgrade(connection, revision)
        fill(connection, cause=revision != "0001")


@pytest.mark.parametrize("revision", ["0001", "0002"])
def test_a_released_history_is_brought_to_this_version(address: str, engine: Engine, revision: str) -> None:
    former(engine, revision)
    with open_history(address) as history:
        detail = show_run(history, RUN)
        assert (detail.run.name, detail.run.policy_limits, detail.run.packed) == ("old", LIMITS, True)
        assert detail.run.available_bytes == 5
        assert (detail.machine, detail.config) == ({"cores": 8}, {"policy": "budget"})
        assert detail.run.started_at.isoformat() == "2024-07-01T12:00:00+00:00"
        ((partition,),) = [proof.partitions for proof in detail.proofs]
        assert partition.seconds == db.StageSeconds(1, 1, 1, 1, 1, 1)
        assert [sample.rss_bytes for sample in db.memory_samples(history, RUN)] == [0, 1, 2]
        assert [each.decisions for each in db.policy_events(history, RUN)] == [[ADMITTED, LOAD]]
        causes = [cause for cause, _ in db.waits(history, RUN)]
        assert causes == ["memory" if revision == "0002" else None, None, None]
        with history.read() as session:
            assert session.execute(text("SELECT kind FROM history_decisions")).all() == [("admit",)]
            assert session.execute(text("SELECT entry, size_bytes FROM history_cache")).all() == [("srs", 3)]


def test_what_lay_on_devices_comes_with_a_table_and_goes_with_it(address: str, engine: Engine) -> None:
    """From 0003 with data up, filled, and down again: the rest is as it was."""
    former(engine, "0002")
    with write_transaction(engine) as connection:
        upgrade(connection, "0003")
    log = [{"type": "Upload", "device": "gpu0", "entry": {"key": "srs", "size_bytes": 3}}, LOAD]
    log.append({"type": "EvictFromDevice", "device": "gpu0", "entry": {"key": "srs", "size_bytes": 3}})
    with open_history(address) as history:  # comes to this version, and packs
        run = db.Run(source="real", name="new", code_version="1")
        with history.writer() as writer:
            writer.insert(run)
            writer.insert(
                db.PolicyEvent(run_id=run.id, sequence=0, at_s=1.0, event={"type": "Tick"}, decisions=log)
            )
            values = {"run_id": run.id, "device": "gpu0", "at_s": 1.0, "reserved_bytes": 9}
            rows = [{**values, "sequence": n, "held_bytes": n} for n in range(2)]
            writer.insert_values(db.DeviceSample, rows)
            writer.update(db.Run, run.id, state="succeeded")
    with open_history(address) as history:
        assert [each.held_bytes for each in db.device_samples(history, run.id)] == [0, 1]
        with history.read() as session:
            cached = session.execute(text("SELECT kind, device, entry, size_bytes FROM history_cache")).all()
            seen = session.execute(
                text("SELECT device, held_bytes, reserved_bytes FROM history_devices")
            ).all()
    assert set(cached) == {
        ("load", None, "srs", 3), ("upload", "gpu0", "srs", 3), ("device_evict", "gpu0", "srs", 3),
    }  # fmt: skip
    assert seen == [("gpu0", 0, 9), ("gpu0", 1, 9)]
    with write_transaction(engine) as connection:
        downgrade(connection, "0003")
        assert read_revision(connection) == "0003"
        kinds = connection.execute(text("SELECT kind FROM history_cache")).scalars().all()
        assert kinds == ["load", "load"]
    with open_history(address) as history:
        assert len(db.policy_events(history, run.id)) == 1
        assert [sample.rss_bytes for sample in db.memory_samples(history, RUN)] == [0, 1, 2]


def test_pools_of_threads_come_with_a_table_and_go_with_it(address: str, engine: Engine) -> None:
    """From 0005 with data up, filled, thinned, and down again: the rest is as it was."""
    former(engine, "0002")
    with write_transaction(engine) as connection:
        upgrade(connection, "0005")
    with open_history(address) as history:  # comes to this version, and packs
        run = db.Run(source="bench", name="new", code_version="1")
        with history.writer() as writer:
            writer.insert(run)
            seen = {"run_id": run.id, "at_s": 1.0, "rss_bytes": 5, "reserved_bytes": 1, "pss_bytes": 3}
            writer.insert_values(db.MemorySample, [{**seen, "sequence": 0}])
            rows = [
                {
                    "run_id": run.id,
                    "sequence": n,
                    "pool": "proving",
                    "at_s": n / 1,
                    "threads": 2,
                    "cores": n % 7,
                }
                for n in range(3_000)
            ]
            writer.insert_values(db.PoolSample, rows)
            writer.update(db.Run, run.id, state="succeeded")
    with open_history(address) as history:
        kept = db.pool_samples(history, run.id)
        assert 2 < len(kept) < 300
        assert max(each.cores for each in kept) == 6
        assert [each.pss_bytes for each in db.memory_samples(history, run.id)] == [3]
        assert [each.pss_bytes for each in db.memory_samples(history, RUN)] == [None] * 3
        with history.read() as session:
            assert session.execute(text("SELECT DISTINCT pool, threads FROM history_pools")).all() == [
                ("proving", 2)
            ]
    with write_transaction(engine) as connection:
        downgrade(connection, "0005")
        assert read_revision(connection) == "0005"
    with open_history(address) as history:
        assert [sample.rss_bytes for sample in db.memory_samples(history, run.id)] == [5]


def test_jobs_come_with_a_table_and_go_with_it(address: str, engine: Engine) -> None:
    former(engine, "0002")
    with write_transaction(engine) as connection:
        upgrade(connection, "0004")
    with open_history(address) as history:  # comes to this version
        store = db.JobStore(history, "host:/folder")
        job = db.JobRow(owner="", digest="d", circuit="c", kind="porep-32g", until="verify", request_id="r")
        store.accept(job).result()
        assert [each.id for each in store.unfinished()] == [job.id]
        store.close()
    with write_transaction(engine) as connection:
        downgrade(connection, "0004")
        assert read_revision(connection) == "0004"
    with open_history(address) as history:
        store = db.JobStore(history, "host:/folder")
        assert store.find(job.id) is None
        store.close()
        assert show_run(history, RUN).run.name == "old"


def rows(connection: Connection, without: str = "") -> dict[str, list[dict[str, Any]]]:
    tables = ("run", "proof", "partition", "stage", "memory_sample", "policy_event")
    found = {}
    for table in tables:
        order = {"stage": "started_s", "memory_sample": "at_s"}.get(table, "1")
        result = connection.execute(text(f'SELECT * FROM "{table}" ORDER BY {order}')).mappings()
        found[table] = [{name: value for name, value in row.items() if name != without} for row in result]
    return found


def decoded(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) and value[:1] in "[{" else value


def test_down_again_everything_is_as_it_was(address: str, engine: Engine) -> None:
    former(engine, "0002")
    with engine.connect() as connection:
        before = rows(connection)
    open_history(address).close()  # which packs
    with write_transaction(engine) as connection:
        downgrade(connection, "0002")
        assert read_revision(connection) == "0002"
    with engine.connect() as connection:
        after = rows(connection)
    for table, old in before.items():
        for one, other in zip(old, after[table], strict=True):
            same = one.keys() - ({"id"} if table == "stage" else {"number"})
            expected = {name: decoded(one[name]) for name in same}
            if table == "run":
                expected["machine"] = {"cores": 8}
            assert {name: decoded(other[name]) for name in same} == expected, table
    with open_history(address) as history:
        assert show_run(history, RUN).run.packed


def test_the_views_have_no_row_of_nothing_and_go_with_the_schema(
    address: str, engine: Engine, write_batch: Callable[..., db.Run]
) -> None:
    from db.migrations.views import NAMES

    with open_history(address) as history:
        run = write_batch(history, db.Run(source="real", name="batch", code_version="1", state="succeeded"))
        with history.read() as session:
            counts = {name: session.scalar(text(f"SELECT count(*) FROM {name}")) for name in NAMES}
            stage = session.execute(
                text("SELECT run_id, seconds FROM history_stages WHERE stage = 'prove'")
            ).all()
    assert [(str(run_id), seconds) for run_id, seconds in stage] == [(run.id, 16.0)] * 4
    assert counts == {
        "history_runs": 1, "history_proofs": 2, "history_partitions": 4, "history_stages": 24,
        "history_waits": 12, "history_memory": 0, "history_decisions": 0, "history_cache": 0,
        "history_devices": 0, "history_pools": 0,
    }  # fmt: skip
    with write_transaction(engine) as connection:
        downgrade(connection, "base")
        tables = "SELECT name FROM sqlite_master WHERE type <> 'index'"
        if engine.dialect.name == "postgresql":
            tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
        assert connection.scalars(text(tables)).all() == [VERSION_TABLE]
