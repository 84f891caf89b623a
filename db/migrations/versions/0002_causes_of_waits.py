"""What each wait was for, and how much of a sample's memory are files that the system can take back."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns."""
    op.add_column("stage", sa.Column("wait_cause", sa.String(16)))
    op.add_column("memory_sample", sa.Column("file_bytes", sa.BigInteger))


def downgrade() -> None:
    """Drop them."""
    op.drop_column("memory_sample", "file_bytes")
    op.drop_column("stage", "wait_cause")
