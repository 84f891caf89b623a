"""What lies in the memory of devices: samples of it, and the device of an upload or eviction there."""

import sqlalchemy as sa
from alembic import op

from db.migrations.tables_0003 import table_of_run
from db.migrations.views import create_device_views, drop_device_views

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    table_of_run(
        "device_sample",
        sa.Column("device", sa.Text, nullable=False),
        sa.Column("at_s", sa.Double, nullable=False),
        sa.Column("held_bytes", sa.BigInteger, nullable=False),
        sa.Column("reserved_bytes", sa.BigInteger, nullable=False),
    )
    op.add_column("cache_event", sa.Column("device", sa.Text))
    create_device_views()


def downgrade() -> None:
    """The log still tells what was uploaded and evicted."""
    drop_device_views()
    op.drop_table("device_sample")
    op.execute("DELETE FROM cache_event WHERE device IS NOT NULL")
    op.drop_column("cache_event", "device")
