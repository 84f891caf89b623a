"""The table that ends a batch, the same for real and simulated runs, from the rows of the history."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from config import format_size

if TYPE_CHECKING:
    from db import ProofDetail, RunDetail, RunSummary

STAGES = ("wait", "load", "synthesize", "queue", "prove", "verify")
TITLES = ("waited", "loaded", "synthesized", "queued", "proved", "verified")


def print_run(detail: RunDetail) -> None:
    """Print a run's proofs with the seconds of each stage, then its totals."""
    console = Console(highlight=False)
    table = Table(
        title=Text(f"{detail.run.name} · {detail.run.source} run {detail.run.id}"), title_justify="left"
    )
    table.add_column("proof")
    table.add_column("state")
    for title in TITLES:
        table.add_column(f"{title} s", justify="right")
    for proof in detail.proofs:
        table.add_row(*_proof_cells(proof))
    console.print(table)
    for line in _totals(detail):
        console.print(line, soft_wrap=True)


def print_runs(summaries: list[RunSummary]) -> None:
    """Print a line for each run, in the order given."""
    table = Table()
    for title in (
        "run",
        "source",
        "batch",
        "state",
        "started",
        "seconds",
        "proofs",
        "s a proof",
        "peak reserved",
    ):
        table.add_column(
            title, justify="right" if title in ("seconds", "s a proof", "peak reserved") else "left"
        )
    for summary in summaries:
        run = summary.run
        seconds = _seconds(run.started_at, run.ended_at)
        table.add_row(
            run.id,
            run.source,
            run.name,
            run.state,
            f"{run.started_at.astimezone():%Y-%m-%d %H:%M:%S}",
            _number(seconds),
            f"{summary.succeeded_count} of {summary.proof_count}",
            _number(seconds / summary.succeeded_count if seconds and summary.succeeded_count else None),
            format_size(run.peak_reserved_bytes) if run.peak_reserved_bytes is not None else "–",
        )
    Console(highlight=False).print(table)


def _proof_cells(detail: ProofDetail) -> list[str]:
    seconds = [_number(getattr(detail.seconds, f"{stage}_s")) for stage in STAGES]
    return [detail.proof.name, detail.proof.state, *seconds]


def _totals(detail: RunDetail) -> list[str]:
    run, succeeded = detail.run, [p.proof for p in detail.proofs if p.proof.state == "succeeded"]
    lines = [f"{run.state}: {len(succeeded)} of {len(detail.proofs)} proofs"]
    ends = [proof.ended_s for proof in succeeded if proof.ended_s is not None]
    if ends:
        first_s = min(p.proof.submitted_s for p in detail.proofs)
        batch_s = max(ends) - first_s
        lines[0] += f" in {batch_s:.2f} s, {batch_s / len(succeeded):.2f} s a proof"
    if run.peak_rss_bytes is not None:
        lines.append(f"peak RSS {format_size(run.peak_rss_bytes)}")
    if run.peak_reserved_bytes is not None and run.budget_bytes is not None:
        used = format_size(run.peak_reserved_bytes)
        lines.append(f"peak reserved {used} of a budget of {format_size(run.budget_bytes)}")
    errors = [f"{p.proof.name}: {p.proof.error}" for p in detail.proofs if p.proof.error]
    return lines + errors + ([run.error] if run.error and not errors else [])


def _seconds(start: datetime, end: datetime | None) -> float | None:
    return None if end is None else (end - start).total_seconds()


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
