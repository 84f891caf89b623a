"""The tables as revision 0003 makes them; what a migration makes must not change when the models do."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import UUID

ID = sa.String(36).with_variant(UUID(as_uuid=False), "postgresql")
DIGEST = sa.String(32)
WORD = sa.String(16)
JSON = sa.JSON()
TIME = sa.DateTime(timezone=True)
NOT_WELL = sa.text("state IN ('failed', 'interrupted')")
KEPT = ("run", "proof", "partition", "stage", "memory_sample", "policy_event")
"""The tables of revision 0002, parents first."""


def create_tables() -> None:
    """All tables of this revision, parents first."""
    for name, value in (("machine", "description"), ("config", "settings")):
        _table(name, sa.Column("id", DIGEST, primary_key=True), sa.Column(value, JSON, nullable=False))
    _create_run()
    _create_proof()
    _create_partition_and_stage()
    _create_samples_and_events()
    _create_what_packing_makes()


def drop_tables() -> None:
    """All tables of this revision, children first."""
    packed = ("summary", "cache_event", "decision", "policy_log")
    for name in (*packed, *reversed(KEPT), "config", "machine"):
        op.drop_table(name)


def _create_run() -> None:
    _table(
        "run",
        sa.Column("id", ID, nullable=False),
        sa.Column("source", WORD, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("state", WORD, nullable=False),
        sa.Column("started_at", TIME, nullable=False),
        sa.Column("ended_at", TIME),
        sa.Column("proof_count", sa.BigInteger),
        sa.Column("budget_bytes", sa.BigInteger),
        sa.Column("available_bytes", sa.BigInteger),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("pid", sa.BigInteger, nullable=False),
        sa.Column("process_started_at", TIME, nullable=False),
        sa.Column("machine_id", DIGEST),
        sa.Column("config_id", DIGEST),
        sa.Column("policy_limits", JSON),
        sa.Column("code_version", sa.Text, nullable=False),
        sa.Column("peak_rss_bytes", sa.BigInteger),
        sa.Column("peak_reserved_bytes", sa.BigInteger),
        sa.Column("flow_run_id", sa.Text),
        sa.Column("output_path", sa.Text),
        sa.Column("error", sa.Text),
        sa.Column("packed", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_run"),
        sa.ForeignKeyConstraint(["machine_id"], ["machine.id"], name="fk_run_machine_id"),
        sa.ForeignKeyConstraint(["config_id"], ["config.id"], name="fk_run_config_id"),
    )
    op.create_index("ix_run_state", "run", ["state"])
    op.create_index("ix_run_started_at", "run", ["started_at"])


def _create_proof() -> None:
    _table(
        "proof",
        sa.Column("id", ID, nullable=False),
        sa.Column("run_id", ID, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("circuit", sa.Text, nullable=False),
        sa.Column("priority", WORD, nullable=False),
        sa.Column("partition_count", sa.BigInteger, nullable=False),
        sa.Column("state", WORD, nullable=False),
        sa.Column("submitted_s", sa.Double, nullable=False),
        sa.Column("ended_s", sa.Double),
        sa.Column("proof_path", sa.Text),
        sa.Column("error", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_proof"),
        _parent("proof", "run"),
        clustered=True,
    )
    op.create_index("ix_proof_run_id", "proof", ["run_id"])
    op.create_index(
        "ix_proof_not_well", "proof", ["run_id"], sqlite_where=NOT_WELL, postgresql_where=NOT_WELL
    )


def _create_partition_and_stage() -> None:
    _table(
        "partition",
        sa.Column("id", ID, nullable=False),
        sa.Column("proof_id", ID, nullable=False),
        sa.Column("index", sa.BigInteger, nullable=False),
        sa.Column("state", WORD, nullable=False),
        sa.Column("reserved_bytes", sa.BigInteger),
        sa.Column("measured_bytes", sa.BigInteger),
        sa.Column("device", sa.Text),
        sa.Column("wait_cause", sa.Text),
        sa.Column("error", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_partition"),
        sa.UniqueConstraint("proof_id", "index", name="uq_partition_proof_id_index"),
        _parent("partition", "proof"),
        clustered=True,
    )
    _table(
        "stage",
        sa.Column("partition_id", ID, nullable=False),
        sa.Column("sequence", sa.BigInteger, nullable=False),
        sa.Column("name", WORD, nullable=False),
        sa.Column("started_s", sa.Double, nullable=False),
        sa.Column("ended_s", sa.Double),
        sa.Column("wait_cause", WORD),
        sa.Column("task_run_id", ID),
        sa.PrimaryKeyConstraint("partition_id", "sequence", name="pk_stage"),
        _parent("stage", "partition"),
        clustered=True,
    )


def _create_samples_and_events() -> None:
    table_of_run(
        "memory_sample",
        sa.Column("at_s", sa.Double, nullable=False),
        sa.Column("rss_bytes", sa.BigInteger),
        sa.Column("reserved_bytes", sa.BigInteger, nullable=False),
        sa.Column("file_bytes", sa.BigInteger),
    )
    table_of_run(
        "policy_event",
        sa.Column("at_s", sa.Double, nullable=False),
        sa.Column("event", JSON, nullable=False),
        sa.Column("decisions", JSON, nullable=False),
    )


def _create_what_packing_makes() -> None:
    table_of_run("policy_log", sa.Column("packed", sa.LargeBinary, nullable=False), clustered=False)
    table_of_run(
        "decision",
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("at_s", sa.Double, nullable=False),
        sa.Column("kind", WORD, nullable=False),
        sa.Column("proof_id", ID, nullable=False),
        sa.Column("partition_index", sa.BigInteger),
        sa.Column("reserved_bytes", sa.BigInteger),
        sa.Column("why", sa.Text),
        key=("run_id", "sequence", "position"),
    )
    table_of_run(
        "cache_event",
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("at_s", sa.Double, nullable=False),
        sa.Column("kind", WORD, nullable=False),
        sa.Column("entry", sa.Text, nullable=False),
        sa.Column("size_bytes", sa.BigInteger),
        sa.Column("why", sa.Text),
        key=("run_id", "sequence", "position"),
    )
    _table(
        "summary",
        sa.Column("run_id", ID, nullable=False),
        sa.Column("circuit", sa.Text, nullable=False),
        sa.Column("device", sa.Text, nullable=False),
        sa.Column("state", WORD, nullable=False),
        sa.Column("partition_count", sa.BigInteger, nullable=False),
        sa.Column("waits_s", JSON, nullable=False),
        sa.Column("columns", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "circuit", "device", "state", name="pk_summary"),
        _parent("summary", "run"),
    )
    if op.get_bind().dialect.name == "postgresql":  # floats do not compress, and parts of them are read
        op.execute("ALTER TABLE summary ALTER COLUMN columns SET STORAGE EXTERNAL")


def _table(name: str, *parts: sa.schema.SchemaItem, clustered: bool = False) -> None:
    op.create_table(name, *parts, sqlite_with_rowid=not clustered)


def table_of_run(
    name: str, *columns: sa.Column[Any], key: tuple[str, ...] = ("run_id", "sequence"), clustered: bool = True
) -> None:
    """A table whose rows are numbered within their run."""
    _table(
        name,
        sa.Column("run_id", ID, nullable=False),
        sa.Column("sequence", sa.BigInteger, nullable=False),
        *columns,
        sa.PrimaryKeyConstraint(*key, name=f"pk_{name}"),
        _parent(name, "run"),
        clustered=clustered,
    )


def _parent(table: str, parent: str) -> sa.ForeignKeyConstraint:
    column = f"{parent}_id"
    return sa.ForeignKeyConstraint(
        [column], [f"{parent}.id"], name=f"fk_{table}_{column}", ondelete="CASCADE"
    )
