"""What is known when a run's time is over: for a person who must find out why."""

from __future__ import annotations

from pathlib import Path

from bench.watching import Watching
from config import format_size

LAST_LINES = 8


async def diagnosis(watching: Watching, timeout_s: float) -> list[str]:
    """Lines: how far it was, what each open proof waits for, the daemon, its process, the end of its log."""
    lines = [f"not done within {timeout_s:g} s: {watching.line()}"]
    lines += [f"why: {line}" for line in await watching.why()]
    status = watching.status
    if status is not None:
        reserved, budget = format_size(status.reserved_bytes), format_size(status.budget_bytes)
        lines.append(
            f"daemon: {status.running} run, {status.waiting} wait, {reserved} of {budget} reserved, "
            f"{status.threads} threads, {status.open_files} open files"
        )
    monitor = watching.run.monitor
    if monitor is not None and monitor.last is not None:
        alive = (
            monitor.ended or f"process {watching.client.version.pid} lives" if watching.client.version else ""
        )
        lines.append(
            f"process: {alive}, {monitor.last.threads} threads, {monitor.last.cores:.1f} processors busy"
        )
    return lines + _end_of_log(watching)


def _end_of_log(watching: Watching) -> list[str]:
    """Of the very run that the daemon says it is, if its log is on this machine: no older one is read."""
    version = watching.client.version
    if version is None or not version.log_path or version.run_id not in Path(version.log_path).name:
        return []
    try:
        text = Path(version.log_path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return [f"log: {version.log_path} on {version.host}"]
    return [f"log: {version.log_path}", *(f"log: {line}" for line in text.splitlines()[-LAST_LINES:])]
