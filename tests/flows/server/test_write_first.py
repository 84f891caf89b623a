"""Transactions of Prefect's server that read before they write."""

import asyncio
from pathlib import Path

import pytest
import sqlalchemy as sa
from prefect.server.database.configurations import AioSqliteConfiguration

from flows.server.write_first import write_first

AT_ONCE = 5


@pytest.fixture
def writing_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        AioSqliteConfiguration, "begin_transaction", AioSqliteConfiguration.begin_transaction
    )  # so that it is put back
    write_first()


async def _counted(folder: Path) -> tuple[int, int]:
    """Each transaction reads the number, reads it elsewhere, and writes the next: what there is at last."""
    database = AioSqliteConfiguration(connection_url=f"sqlite+aiosqlite:///{folder / 'numbers.db'}")
    engine = await database.engine()
    number = sa.text("SELECT coalesce(max(n), 0) FROM numbers")

    async def read() -> int:
        async with await database.session(engine) as session:
            return int((await session.execute(number)).scalar_one())

    async def count_on() -> None:
        async with await database.session(engine) as session, database.begin_transaction(session):
            found = (await session.execute(number)).scalar_one()
            await asyncio.sleep(0.05)  # in which the others begin
            assert await asyncio.wait_for(read(), 30) == found
            await session.execute(sa.text("INSERT INTO numbers VALUES (:n)"), {"n": found + 1})

    async with await database.session(engine) as session:
        await session.execute(sa.text("CREATE TABLE numbers (n INTEGER)"))
    ended = await asyncio.gather(*(count_on() for _ in range(AT_ONCE)), return_exceptions=True)
    failed = [each for each in ended if each is not None]
    try:
        return await read(), len(failed)
    finally:
        await engine.dispose()


@pytest.mark.usefixtures("writing_first")
def test_transactions_that_read_first_wait_for_each_other(tmp_path: Path) -> None:
    assert asyncio.run(_counted(tmp_path)) == (AT_ONCE, 0)


def test_without_it_they_are_refused_as_locked(tmp_path: Path) -> None:
    reached, failed = asyncio.run(_counted(tmp_path))
    assert failed > 0, "Prefect itself waits now: flows/server/write_first.py can go"
    assert reached == AT_ONCE - failed
