"""Jobs of daemons, which outlive their processes."""

import sqlalchemy as sa
from alembic import op

from db.migrations.tables_0003 import ID, JSON, TIME, WORD

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "job",
        sa.Column("id", ID, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("request_id", sa.Text),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("circuit", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("priority", WORD),
        sa.Column("due_at", TIME),
        sa.Column("partition_count", sa.BigInteger),
        sa.Column("until", WORD, nullable=False),
        sa.Column("lease_s", sa.Double, nullable=False),
        sa.Column("input_path", sa.Text),
        sa.Column("state", WORD, nullable=False),
        sa.Column("accepted_at", TIME, nullable=False),
        sa.Column("ended_at", TIME),
        sa.Column("delivered_at", TIME),
        sa.Column("error", sa.Text),
        sa.Column("timings", JSON),
        sa.Column("proofs", sa.LargeBinary),
        sa.PrimaryKeyConstraint("id", name="pk_job"),
        sa.UniqueConstraint("owner", "request_id", name="uq_job_owner_request_id"),
    )


def downgrade() -> None:
    """Jobs that are not ended are lost: let the daemon end them first."""
    op.drop_table("job")
