"""What a batch shows on its page in Prefect's UI: how far it is, its proofs, memory, where the rest is."""

import asyncio
import logging
import socket
from base64 import b64encode
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from prefect.artifacts import (
    acreate_markdown_artifact,
    acreate_progress_artifact,
    acreate_table_artifact,
    aupdate_progress_artifact,
)

from db import History, HistoryError
from flows.summary import BatchSummary, ProofSummary

if TYPE_CHECKING:
    from plots import PlottedRun

log = logging.getLogger("cuzk.flows")

COLUMNS = ("proof", "state", "seconds", "why")
MOST_ROWS = 300  # of the table; the history has all of them


class ProgressBar:
    """How many proofs have ended, of all. At the end of the block it shows the last, whatever ends it, if it
    has been there before: of a batch that is over at once the table says as much.
    """

    def __init__(self) -> None:
        self._id: UUID | None = None
        self._shown = -1
        self._last: asyncio.Task[None] | None = None

    def begin_last(self, ended: int, count: int, words: str) -> None:
        """As `show`, for the last time and without waiting for it: the end of the block does."""
        if self._id is not None:
            self._last = asyncio.create_task(self.show(ended, count, words))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._last is not None:
            await asyncio.wait([self._last])

    async def show(self, ended: int, count: int, words: str) -> None:
        """Make the bar, or move it where something has changed."""
        if ended == self._shown:
            return
        self._shown, percent = ended, 100 * ended / max(1, count)
        await _kept(self._show(percent, words))

    async def _show(self, percent: float, words: str) -> None:
        if self._id is None:
            self._id = await acreate_progress_artifact(percent, "progress", words)
        else:
            await aupdate_progress_artifact(self._id, percent, words)


async def show_end(history: History, summary: BatchSummary) -> None:
    """The table of the proofs and, meanwhile, the report."""
    await asyncio.gather(show_proofs(summary), show_report(history, summary))


async def show_proofs(summary: BatchSummary) -> None:
    """The table of the proofs, those first that failed."""
    proofs = summary.proofs.failed_first()
    rows = [_row(proof) for proof in proofs[:MOST_ROWS]]
    if more := len(proofs) - len(rows):
        rows.append(dict(zip(COLUMNS, (f"… {more} more", "see the history", "", ""), strict=True)))
    await _kept(acreate_table_artifact(rows, "proofs", summary.headline))


async def show_report(history: History, summary: BatchSummary) -> None:
    """Memory against the budget, and where report, history, log and proofs are. Writes the report.

    Once the run is closed in the history.
    """
    await _kept(_show_report(history, summary))


async def _show_report(history: History, summary: BatchSummary) -> None:
    from plots import memory_png, plotted_run

    run = await asyncio.to_thread(plotted_run, history, summary.run_id)
    memory = await asyncio.to_thread(memory_png, run)
    page = summary.output / "report.html"
    _at_leisure(_write_report, page, run, memory, summary)
    text = _page_in_ui(memory, page, summary)
    await acreate_markdown_artifact(text, "report", "Memory against the budget, and where the files are")


def _at_leisure(work: Callable[..., None], *arguments: object) -> None:
    """Begin it and do not wait: the flow tells meanwhile how it has ended. The loop waits when it closes."""
    asyncio.get_running_loop().run_in_executor(None, work, *arguments).add_done_callback(_log_error)


def _log_error(written: asyncio.Future[None]) -> None:
    if not written.cancelled() and (error := written.exception()):
        log.warning("the report is missing: %s", error, exc_info=error)


def _page_in_ui(memory: bytes, page: Path, summary: BatchSummary) -> str:
    picture = f"![memory against the budget](data:image/png;base64,{b64encode(memory).decode()})"
    places = {
        "proofs": summary.output,
        "log": summary.log,
        "page with all pictures": page,
        "history": summary.history,
    }
    lines = [f"- {what}: `{where}`" for what, where in places.items() if where is not None]
    lines += ["", "All stages and waits:", "", f"    cuzk history show {summary.run_id}"]
    return "\n".join([f"{picture}\n", f"On host {socket.gethostname()}:\n", *lines])


def _write_report(path: Path, run: "PlottedRun", memory: bytes, summary: BatchSummary) -> None:
    from plots import PageTable, html_page, run_pictures

    rows = tuple(tuple(_row(proof).values()) for proof in summary.proofs.failed_first()[:MOST_ROWS])
    table = PageTable("Proofs", COLUMNS, rows)
    partial = path.with_suffix(".partial")
    page = html_page(run, [summary.headline], [table], own=run_pictures(run, memory))
    partial.write_text(page, encoding="utf-8")
    partial.replace(path)


def _row(proof: ProofSummary) -> dict[str, str]:
    seconds = "" if proof.is_cancelled else f"{proof.seconds:.2f}"
    why = str(proof.error).removeprefix(f"{proof.name}: ") if proof.state == "failed" else ""
    return dict(zip(COLUMNS, (proof.name, proof.state, seconds, why), strict=True))


async def _kept(artifact: Coroutine[Any, Any, object]) -> None:
    """What cannot be shown is logged: the proofs are made all the same."""
    try:
        await artifact
    except HistoryError as error:  # the history has said more of it
        log.warning("an artifact is missing in Prefect's UI: %s", error)
    except Exception as error:
        log.warning("an artifact is missing in Prefect's UI: %s", error, exc_info=error)
