"""Alembic, run from the migrations that lie in this package. Slow to import, so imported only when needed."""

import threading
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

_MIGRATIONS = Path(__file__).parent / "migrations"
_one_at_a_time = threading.Lock()  # Alembic keeps what it works on in its modules


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Migrate up to `revision` within the transaction that `connection` is in."""
    with _one_at_a_time:
        command.upgrade(_config(connection), revision)


def downgrade(connection: Connection, revision: str) -> None:
    """Migrate down to `revision` ("base" for no tables) within the transaction that `connection` is in."""
    with _one_at_a_time:
        command.downgrade(_config(connection), revision)


def known_revisions() -> list[str]:
    """All revisions of this version, the newest first."""
    return [script.revision for script in ScriptDirectory.from_config(_config(None)).walk_revisions()]


def _config(connection: Connection | None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))  # % is an interpolation
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config
