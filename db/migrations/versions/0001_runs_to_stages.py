"""Runs, proofs, partitions, stages, memory samples and policy events."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

JSON = sa.JSON()
TIME = sa.DateTime(timezone=True)
ID = sa.String(36)


def upgrade() -> None:
    """Make all tables."""
    _create_run()
    _create_proof()
    _create_partition_and_stage()
    _create_samples_and_events()


def downgrade() -> None:
    """Drop all tables; children first."""
    for table in ("policy_event", "memory_sample", "stage", "partition", "proof", "run"):
        op.drop_table(table)


def _create_run() -> None:
    op.create_table(
        "run",
        sa.Column("id", ID, nullable=False),
        sa.Column("source", sa.String(16), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("started_at", TIME, nullable=False),
        sa.Column("ended_at", TIME),
        sa.Column("budget_bytes", sa.BigInteger),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("pid", sa.BigInteger, nullable=False),
        sa.Column("process_started_at", TIME, nullable=False),
        sa.Column("machine", JSON),
        sa.Column("config", JSON),
        sa.Column("policy_limits", JSON),
        sa.Column("code_version", sa.Text, nullable=False),
        sa.Column("peak_rss_bytes", sa.BigInteger),
        sa.Column("peak_reserved_bytes", sa.BigInteger),
        sa.Column("flow_run_id", sa.Text),
        sa.Column("output_path", sa.Text),
        sa.Column("error", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_run"),
    )
    op.create_index("ix_run_state", "run", ["state"])
    op.create_index("ix_run_started_at", "run", ["started_at"])


def _create_proof() -> None:
    op.create_table(
        "proof",
        sa.Column("id", ID, nullable=False),
        sa.Column("run_id", ID, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("circuit", sa.Text, nullable=False),
        sa.Column("priority", sa.String(16), nullable=False),
        sa.Column("partition_count", sa.BigInteger, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("submitted_s", sa.Double, nullable=False),
        sa.Column("ended_s", sa.Double),
        sa.Column("proof_path", sa.Text),
        sa.Column("error", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_proof"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_proof_run_id", ondelete="CASCADE"),
    )
    op.create_index("ix_proof_run_id", "proof", ["run_id"])
    op.create_index("ix_proof_circuit", "proof", ["circuit"])


def _create_partition_and_stage() -> None:
    op.create_table(
        "partition",
        sa.Column("id", ID, nullable=False),
        sa.Column("proof_id", ID, nullable=False),
        sa.Column("index", sa.BigInteger, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("reserved_bytes", sa.BigInteger),
        sa.Column("measured_bytes", sa.BigInteger),
        sa.Column("device", sa.Text),
        sa.Column("wait_cause", sa.Text),
        sa.Column("error", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_partition"),
        sa.UniqueConstraint("proof_id", "index", name="uq_partition_proof_id_index"),
        sa.ForeignKeyConstraint(["proof_id"], ["proof.id"], name="fk_partition_proof_id", ondelete="CASCADE"),
    )
    op.create_table(
        "stage",
        sa.Column("id", ID, nullable=False),
        sa.Column("partition_id", ID, nullable=False),
        sa.Column("name", sa.String(16), nullable=False),
        sa.Column("started_s", sa.Double, nullable=False),
        sa.Column("ended_s", sa.Double),
        sa.PrimaryKeyConstraint("id", name="pk_stage"),
        sa.ForeignKeyConstraint(
            ["partition_id"], ["partition.id"], name="fk_stage_partition_id", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_stage_partition_id", "stage", ["partition_id"])


def _create_samples_and_events() -> None:
    op.create_table(
        "memory_sample",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer, "sqlite"), nullable=False),
        sa.Column("run_id", ID, nullable=False),
        sa.Column("at_s", sa.Double, nullable=False),
        sa.Column("rss_bytes", sa.BigInteger),
        sa.Column("reserved_bytes", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_memory_sample"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_memory_sample_run_id", ondelete="CASCADE"),
    )
    op.create_index("ix_memory_sample_run_id", "memory_sample", ["run_id"])
    op.create_table(
        "policy_event",
        sa.Column("run_id", ID, nullable=False),
        sa.Column("sequence", sa.BigInteger, nullable=False),
        sa.Column("at_s", sa.Double, nullable=False),
        sa.Column("event", JSON, nullable=False),
        sa.Column("decisions", JSON, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "sequence", name="pk_policy_event"),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_policy_event_run_id", ondelete="CASCADE"),
    )
