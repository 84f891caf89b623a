"""How a daemon is at one moment."""

import threading
import time
from typing import Any

from google.protobuf.json_format import MessageToDict

from daemon.book import Book
from daemon.messages import STATES
from daemon.metrics import open_files
from daemon.proto.cuzk_py.v1 import circuits_pb2 as pb
from engine import Engine

MOST_JOBS = 50


class Status:
    """Asked on the event loop's thread."""

    def __init__(self, engine: Engine, book: Book) -> None:
        self._engine, self._book = engine, book
        self._started_s = time.monotonic()

    def message(self) -> pb.DaemonStatus:
        """All of it, and the oldest of the jobs."""
        engine, book = self._engine, self._book
        return pb.DaemonStatus(
            at_s=time.time(),
            uptime_s=time.monotonic() - self._started_s,
            budget_bytes=engine.limits.budget_bytes,
            share_bytes=engine.share_bytes,
            reserved_bytes=engine.reserved_bytes,
            peak_reserved_bytes=engine.peak_reserved_bytes,
            rss_bytes=engine.rss_bytes,
            peak_rss_bytes=engine.peak_rss_bytes,
            waiting=book.shelf.count("accepted"),
            running=book.shelf.count("running"),
            done=book.runs.ended["done"],
            failed=book.runs.ended["failed"],
            cancelled=book.runs.ended["cancelled"],
            draining=book.runs.draining,
            entries=[pb.CachedEntry(**entry._asdict()) for entry in engine.entries()],
            jobs=[
                pb.RunningJob(
                    job_id=job.id,
                    circuit=job.ask.circuit,
                    name=job.ask.title,
                    state=STATES[job.state],
                    doing=book.runs.why(job)[0],
                    age_s=job.age_s,
                )
                for job in book.shelf.open_jobs[:MOST_JOBS]
            ],
            threads=threading.active_count(),
            open_files=open_files(),
        )

    def as_json(self) -> dict[str, Any]:
        """The same by the fields' names; numbers as numbers."""
        found: dict[str, Any] = MessageToDict(
            self.message(), preserving_proto_field_name=True, always_print_fields_with_no_presence=True
        )
        return {name: with_numbers(each, name) for name, each in found.items()}


def with_numbers(value: Any, name: str) -> Any:
    """The value of the field of that name; 64-bit integers are strings in protobuf's JSON."""
    if isinstance(value, dict):
        return {key: with_numbers(each, key) for key, each in value.items()}
    if isinstance(value, list):
        return [with_numbers(each, name) for each in value]
    is_count = name.endswith("_bytes") or name in ("done", "failed", "cancelled")
    return int(value) if is_count and isinstance(value, str) else value
