"""A daemon's jobs as rows of the history's database, and back."""

import asyncio
import json
import logging
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from daemon.inputs import SIGNALS, WITNESS
from daemon.jobs import Ask, End, Job, PartitionFiles, Timings
from db import HistoryError, JobRow, JobStore
from engine.proofs import Stage
from policy import Priority

log = logging.getLogger("cuzk.daemon")


class Stored:
    """See `daemon.shelf.Store`."""

    def __init__(self, store: JobStore) -> None:
        self._store = store
        self._trouble = ""  # what was said of forgetting

    async def accept(self, job: Job) -> None:
        await asyncio.wrap_future(self._store.accept(_row(job)))

    async def end(self, job: Job) -> None:
        end = job.end
        assert end is not None, "a job that is written as ended has"
        await asyncio.wrap_future(
            self._store.change(
                job.id, state=end.state, ended_at=end.at, error=end.error or None,
                timings=asdict(end.timings), proofs=_packed(end.files), input_path=None,
            )
        )  # fmt: skip

    async def deliver(self, job: Job) -> None:
        """Nobody waits for this: that a result is handed out once more after a crash harms nobody."""
        self._store.change(job.id, delivered_at=datetime.now(UTC))

    async def files(self, job: Job) -> tuple[PartitionFiles, ...]:
        return _unpacked(await asyncio.to_thread(self._store.proofs, job.id))

    async def find(self, job_id: str) -> Job | None:
        """One that has ended; only such are found here and nowhere in memory."""
        return _ended(await asyncio.to_thread(self._store.find, job_id))

    async def requested(self, request_id: str) -> Job | None:
        """The same by its request."""
        return _ended(await asyncio.to_thread(self._store.requested, request_id))

    async def forget(self, before: datetime, also_undelivered: bool) -> None:
        try:
            await asyncio.wrap_future(self._store.forget(before, also_undelivered))
            self._trouble = ""
        except HistoryError as error:  # they are gone with the next ones, some seconds later
            if str(error) != self._trouble:
                log.warning("%s", error)
            self._trouble = str(error)

    def unfinished(self, folder: Path) -> list[Job]:
        """What earlier processes accepted and did not end. Blocks. Raises HistoryError."""
        jobs = [_job(row) for row in self._store.unfinished()]
        _remove_strays(folder, jobs)
        return jobs

    def close(self) -> None:
        """Write what is left. Blocks."""
        self._store.close()


def _row(job: Job) -> JobRow:
    ask = job.ask
    return JobRow(
        id=job.id,
        owner="",
        request_id=ask.request_id or None,
        digest=ask.digest,
        circuit=ask.circuit,
        kind=ask.kind,
        name=ask.name,
        priority=None if ask.priority is None else ask.priority.name.lower(),
        due_at=ask.due,
        partition_count=ask.partitions,
        until=ask.until,
        lease_s=ask.lease_s,
        input_path=None if job.input_path is None else str(job.input_path),
        accepted_at=job.accepted_at,
    )


def _job(row: JobRow) -> Job:
    ask = Ask(
        row.circuit,
        row.kind,
        row.request_id or "",
        row.name,
        None if row.priority is None else Priority[row.priority.upper()],
        row.due_at,
        row.partition_count,
        cast(Stage, row.until),
        row.lease_s,
        row.digest,
    )
    path = None if row.input_path is None else Path(row.input_path)
    return Job(ask, path, id=row.id, accepted_at=row.accepted_at)


def _ended(row: JobRow | None) -> Job | None:
    if row is None or row.state == "accepted" or row.ended_at is None:
        return None
    job = _job(row)
    job.state = row.state
    job.end = End(row.state, row.error or "", (), Timings(**row.timings or {}), row.ended_at)
    job.stored = True
    job.delivered = row.delivered_at is not None
    job.ended.set()
    return job


def _remove_strays(folder: Path, jobs: list[Job]) -> None:
    """What a process left that died before it had accepted a job, or cleared up after one."""
    wanted = {job.id for job in jobs}
    for path in folder.iterdir():
        if path.suffix in (WITNESS, SIGNALS) and path.stem not in wanted:
            path.unlink(missing_ok=True)
            log.info("removed %s, which is of no job any more", path)


def _packed(files: tuple[PartitionFiles, ...]) -> bytes | None:
    if not files:
        return None
    return json.dumps([[proof.decode(), public.decode()] for proof, public in files]).encode()


def _unpacked(packed: bytes | None) -> tuple[PartitionFiles, ...]:
    if packed is None:
        return ()
    return tuple((proof.encode(), public.encode()) for proof, public in json.loads(packed))
