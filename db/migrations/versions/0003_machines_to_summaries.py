"""Machines and settings once each, packed logs, decisions, cache events, summaries, and views; less space.

Keys change, which SQLite cannot do to a table that is there: so all tables are made anew and filled.
"""

from importlib import import_module
from types import ModuleType

import sqlalchemy as sa
from alembic import op

from db.digest import digest
from db.migrations import tables_0003
from db.migrations.tables_0003 import JSON, KEPT
from db.migrations.views import create_views, drop_views
from db.policy_log import unpack

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

COLUMNS = {
    "run": "id, source, name, state, started_at, ended_at, budget_bytes, host, pid, process_started_at,"
    " policy_limits, code_version, peak_rss_bytes, peak_reserved_bytes, flow_run_id, output_path, error",
    "proof": "id, run_id, name, circuit, priority, partition_count, state, submitted_s, ended_s, proof_path,"
    " error",
    "partition": 'id, proof_id, "index", state, reserved_bytes, measured_bytes, device, wait_cause, error',
    "stage": "partition_id, name, started_s, ended_s, wait_cause",
    "memory_sample": "run_id, at_s, rss_bytes, reserved_bytes, file_bytes",
    "policy_event": "run_id, sequence, at_s, event, decisions",
}
IDS = ("id", "run_id", "proof_id", "partition_id")
RANDOM_ID_ON_SQLITE = "lower(" + " || '-' || ".join(f"hex(randomblob({n}))" for n in (4, 2, 2, 2, 6)) + ")"


def upgrade() -> None:
    """Rows keep their ids. Runs that are over are packed when the history is opened next."""
    _set_aside()
    _former(1).downgrade()
    tables_0003.create_tables()
    numbered = "row_number() OVER (PARTITION BY {} ORDER BY {}) - 1"
    more = {
        "run": {"packed": "false"},
        "stage": {"sequence": numbered.format("partition_id", "started_s, id")},
        "memory_sample": {"sequence": numbered.format("run_id", "at_s, number")},
    }
    for table in KEPT:
        _fill(table, "uuid", more.get(table, {}))
    _share("machine", "description")
    _share("config", "settings")
    _forget_what_was_set_aside()
    create_views()


def downgrade() -> None:
    """What the former schema has no place for goes; the log still tells decisions and cache events."""
    drop_views()
    _unpack_logs()
    _set_aside()
    op.execute("CREATE TABLE former_machine AS SELECT * FROM machine")
    op.execute("CREATE TABLE former_config AS SELECT * FROM config")
    tables_0003.drop_tables()
    for number in (1, 2):
        _former(number).upgrade()
    shared = "(SELECT {} FROM former_{} x WHERE x.id = former_run.{}_id)"
    more = {
        "run": {
            "machine": shared.format("description", "machine", "machine"),
            "config": shared.format("settings", "config", "config"),
        },
        "stage": {"id": RANDOM_ID_ON_SQLITE if _is_sqlite() else "CAST(gen_random_uuid() AS varchar)"},
    }
    for table in KEPT:
        _fill(table, "varchar", more.get(table, {}))
    _forget_what_was_set_aside("machine", "config")


def _former(number: int) -> ModuleType:
    names = {1: "0001_runs_to_stages", 2: "0002_causes_of_waits"}
    return import_module(f"db.migrations.versions.{names[number]}")


def _is_sqlite() -> bool:
    return op.get_bind().dialect.name == "sqlite"


def _set_aside() -> None:
    """Copies of the tables under other names, without keys and indexes, whose names are taken."""
    for table in KEPT:
        op.execute(f'CREATE TABLE former_{table} AS SELECT * FROM "{table}"')


def _forget_what_was_set_aside(*more: str) -> None:
    for table in (*KEPT, *more):
        op.execute(f"DROP TABLE former_{table}")


def _fill(table: str, id_type: str, more: dict[str, str]) -> None:
    """From what was set aside; PostgreSQL's ids change their type, `more` is columns and how to make them."""
    names = COLUMNS[table].split(", ")
    cast = names if _is_sqlite() else [f"CAST({n} AS {id_type})" if n in IDS else n for n in names]
    op.execute(
        f'INSERT INTO "{table}" ({", ".join([*names, *more])})'
        f" SELECT {', '.join([*cast, *more.values()])} FROM former_{table}"
    )


def _share(table: str, value: str) -> None:
    """Each machine, or each set of settings, once, and the runs' references to them."""
    connection = op.get_bind()
    former = sa.table("former_run", sa.column("id"), sa.column(table, JSON))
    shared = sa.table(table, sa.column("id"), sa.column(value, JSON))
    known: set[str] = set()
    for run_id, found in connection.execute(sa.select(former)).all():
        if found is None:
            continue
        available_bytes = found.pop("available_bytes", None)  # differs from run to run
        id_ = digest(found)
        if id_ not in known:
            connection.execute(sa.insert(shared).values({"id": id_, value: found}))
            known.add(id_)
        _refer(connection, run_id, {f"{table}_id": id_, "available_bytes": available_bytes})


def _refer(connection: sa.Connection, run_id: str, values: dict[str, object]) -> None:
    set_values = {name: value for name, value in values.items() if value is not None}
    run = sa.table("run", sa.column("id", tables_0003.ID), *(sa.column(name) for name in set_values))
    connection.execute(sa.update(run).where(run.c.id == run_id).values(set_values))


def _unpack_logs() -> None:
    connection = op.get_bind()
    log = sa.table("policy_log", sa.column("run_id"), sa.column("packed", sa.LargeBinary))
    names = COLUMNS["policy_event"].split(", ")
    columns = [sa.column(name, JSON if name in ("event", "decisions") else None) for name in names]
    event = sa.table("policy_event", *columns)
    for run_id, packed in connection.execute(sa.select(log)).all():
        rows = [{"run_id": run_id, **values} for values in unpack(packed)]
        connection.execute(sa.insert(event), rows)
