"""What is seen of a process from outside: its proportional share of memory, and its pools of threads."""

import sqlalchemy as sa
from alembic import op

from db.migrations.tables_0003 import table_of_run
from db.migrations.views import create_pool_view, drop_pool_view

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("memory_sample", sa.Column("pss_bytes", sa.BigInteger))
    table_of_run(
        "pool_sample",
        sa.Column("pool", sa.Text, nullable=False),
        sa.Column("at_s", sa.Double, nullable=False),
        sa.Column("threads", sa.BigInteger, nullable=False),
        sa.Column("cores", sa.Double, nullable=False),
    )
    create_pool_view()


def downgrade() -> None:
    drop_pool_view()
    op.drop_table("pool_sample")
    op.drop_column("memory_sample", "pss_bytes")
