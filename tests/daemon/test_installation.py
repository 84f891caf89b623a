"""An installation that is not whole ends no job: what was accepted waits until it is."""

import asyncio
import sys
from pathlib import Path

import pytest

from daemon import runs
from daemon.book import Book
from daemon.errors import Unavailable
from daemon.installation import what_is_missing
from daemon.jobs import Ask, Job, with_digest
from tests.daemon.conftest import INPUT, PATIENCE_S
from tests.daemon.opened import configured, opened_book

ASK = Ask("multiplier", request_id="r")


async def until_missing(book: Book) -> None:
    while True:
        if book.runs.missing:
            return
        await asyncio.sleep(0.01)


def test_what_is_missing_is_found_below_what_was_made_of_it() -> None:
    error = RuntimeError("merkle: it failed")
    error.__cause__ = ModuleNotFoundError("No module named 'wasmtime'")
    assert what_is_missing(error) == "No module named 'wasmtime'"
    assert what_is_missing(RuntimeError("another")) == ""


def test_an_accepted_job_waits_for_a_whole_installation_and_is_proved(
    tmp_path: Path, params: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = configured(tmp_path, params, monkeypatch)
    monkeypatch.setattr(runs, "AGAIN_S", (0.05,))
    monkeypatch.delitem(sys.modules, "groth16.witness_calculator", raising=False)
    monkeypatch.setitem(sys.modules, "wasmtime", None)  # an import of it fails

    async def live() -> Job:
        async with asyncio.timeout(PATIENCE_S), opened_book(config, tmp_path) as book:
            job, _ = await book.submit(await with_digest(ASK, INPUT), INPUT)
            await until_missing(book)
            assert job.is_open
            assert "wasmtime" in book.runs.missing
            with pytest.raises(Unavailable, match=r"takes no more jobs: .*installation is not whole"):
                await book.submit(Ask("multiplier", request_id="another"), None)
            monkeypatch.undo()  # it is installed
            await job.ended.wait()
            assert book.runs.missing == ""
            return job

    job = asyncio.run(live())
    assert job.end is not None
    assert (job.end.state, job.end.error) == ("done", "")


def test_a_job_that_waits_for_the_installation_is_kept_by_the_drain(
    tmp_path: Path, params: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = configured(tmp_path, params, monkeypatch)
    monkeypatch.delitem(sys.modules, "groth16.witness_calculator", raising=False)
    monkeypatch.setitem(sys.modules, "wasmtime", None)

    async def live() -> Job:
        async with asyncio.timeout(PATIENCE_S), opened_book(config, tmp_path) as book:
            job, _ = await book.submit(await with_digest(ASK, INPUT), INPUT)
            await until_missing(book)
            assert "tried again" in book.runs.why(job)[0]
            await book.runs.drain(PATIENCE_S)
            return job

    job = asyncio.run(live())
    assert job.is_open
    assert job.input_path is not None
    assert job.input_path.exists()
