"""Prefect's transactions on SQLite take the right to write when they begin, and wait for it then.

A transaction that has read first and would then write is refused at once where another has written meanwhile:
"database is locked", told to the UI as status 503, which it does not try again. While a batch proves, its
task runs are written all the time. Prefect begins only some of its transactions so.
https://www.sqlite.org/isolation.html, https://www.sqlite.org/rescode.html#busy_snapshot
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from prefect.server.database.configurations import SQLITE_BEGIN_MODE, AioSqliteConfiguration


def write_first() -> None:
    """Have every transaction of this process's Prefect server begin so, on SQLite."""
    AioSqliteConfiguration.begin_transaction = _begin_immediate  # type: ignore[method-assign]


@asynccontextmanager
async def _begin_immediate(
    self: AioSqliteConfiguration,  # noqa: ARG001 it takes the method's place
    session: Any,
    with_for_update: bool = False,  # noqa: ARG001
) -> AsyncGenerator[Any, None]:
    async with session.begin() as transaction:
        token = SQLITE_BEGIN_MODE.set("IMMEDIATE")
        try:
            await session.connection()
        finally:
            # What only reads within the transaction, in a session of its own, would wait for it in vain.
            SQLITE_BEGIN_MODE.reset(token)
        yield transaction
