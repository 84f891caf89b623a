"""What a daemon says of a store that does not answer."""

import asyncio
from concurrent.futures import Future
from datetime import UTC, datetime

import pytest

from daemon.stored import Stored
from db import HistoryError


class Store:
    """Answers as it is told to."""

    error: HistoryError | None = None

    def forget(self, _before: datetime, _also_undelivered: bool) -> "Future[None]":
        done: Future[None] = Future()
        if self.error is None:
            done.set_result(None)
        else:
            done.set_exception(self.error)
        return done


def test_that_nothing_can_be_forgotten_is_said_once_and_again_after_it_could(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It is tried every few seconds, for as long as the database is away."""
    store = Store()
    stored = Stored(store)  # type: ignore[arg-type]  # all that is asked of it here

    async def forget(*errors: HistoryError | None) -> list[str]:
        caplog.clear()
        for store.error in errors:
            await stored.forget(datetime.now(UTC), True)
        return [record.getMessage() for record in caplog.records]

    away, full = HistoryError("away"), HistoryError("full")
    assert asyncio.run(forget(away, away, away)) == ["away"]
    assert asyncio.run(forget(away, None, away, full, full)) == ["away", "full"]
