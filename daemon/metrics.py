"""A daemon's numbers for Prometheus: those of its engine, and of its jobs."""

import threading
from pathlib import Path

from daemon.book import Book
from engine import Engine
from engine.metrics import Gauge, gauges_text


def metrics_text(engine: Engine, book: Book) -> str:
    """In Prometheus's text format."""
    return engine.metrics_text() + gauges_text(
        [
            Gauge("jobs", "Jobs that have not ended.", lambda: _open_jobs(book), "state"),
            Gauge("queue_limit", "Jobs that may wait or run.", lambda: book.queue_limit),
            Gauge(
                "jobs_ended",
                "Jobs that have ended since the start.",
                lambda: _ended(book),
                "state",
            ),
            Gauge("draining", "1 once the daemon takes no more jobs.", lambda: int(book.runs.draining)),
            Gauge("threads", "Threads of the process.", threading.active_count),
            Gauge("open_files", "Open descriptors of the process.", open_files),
        ]
    )


def _open_jobs(book: Book) -> dict[str, float]:
    return {"accepted": book.shelf.count("accepted"), "running": book.shelf.count("running")}


def _ended(book: Book) -> dict[str, float]:
    return {str(state): count for state, count in book.runs.ended.items()}


def open_files() -> int:
    """Descriptors that this process has open."""
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.is_dir() else 0
