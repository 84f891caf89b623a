"""What Alembic runs: the migrations, on the caller's connection and within its transaction."""

from alembic import context

from db.schema import VERSION_TABLE
from db.tables import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=VERSION_TABLE,
    transactional_ddl=True,  # true of SQLite as well, as the transaction is begun by us and not by its driver
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
