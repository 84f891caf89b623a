"""A run as a Chrome trace, which Perfetto and chrome://tracing show."""

import json
from collections.abc import Iterator
from typing import Any

from plots.gantt import lines_of
from plots.rows import PlottedRun

MICROSECONDS = 1e6


def chrome_trace(run: PlottedRun) -> str:
    """The trace as JSON: each line of the Gantt chart a thread, each stage a slice, memory a counter.

    Format: Trace Event Format, Google, 2016.
    """
    return json.dumps({"traceEvents": list(_events(run)), "displayTimeUnit": "ms"})


def _events(run: PlottedRun) -> Iterator[dict[str, Any]]:
    yield _name("process_name", 0, run.title)
    for thread, (line, bars) in enumerate(lines_of(run.bars).items(), start=1):
        yield _name("thread_name", thread, line)
        yield {
            "ph": "M",
            "pid": 1,
            "tid": thread,
            "name": "thread_sort_index",
            "args": {"sort_index": thread},
        }
        for bar in bars:
            yield {
                "ph": "X",
                "pid": 1,
                "tid": thread,
                "name": bar.circuit,
                "cat": bar.resource,
                "ts": bar.started_s * MICROSECONDS,
                "dur": (bar.ended_s - bar.started_s) * MICROSECONDS,
            }
    for point in run.memory:
        sizes = {"reserved": point.reserved_bytes}
        if point.rss_bytes is not None:
            sizes["resident"] = point.rss_bytes
        yield {"ph": "C", "pid": 1, "name": "memory, bytes", "ts": point.at_s * MICROSECONDS, "args": sizes}


def _name(kind: str, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "pid": 1, "tid": thread, "name": kind, "args": {"name": name}}
