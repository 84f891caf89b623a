"""A run as a page that needs nothing beside it: its numbers, every partition's stages, and its memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from cli.history.output import local, seconds
from cli.table import STAGES, TITLES, totals
from config import format_size

if TYPE_CHECKING:
    from db import MemorySample, RunDetail, Span

TEMPLATE = Path(__file__).with_name("page.html")
WIDTH, ROW, LABEL, PLOT = 1000, 14, 160, 160
MOST_TICKS = 10


def html_page(detail: RunDetail, spans: Sequence[Span], samples: Sequence[MemorySample]) -> str:
    """The whole page."""
    run = detail.run
    ends_s = [span.started_s if span.ended_s is None else span.ended_s for span in spans]
    end_s = max([*ends_s, *(sample.at_s for sample in samples)], default=0.0) or 1.0
    return Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        title=escape(f"{run.name}, {run.source} run {run.id}"),
        facts="".join(f"<li>{escape(line)}</li>" for line in _facts(detail)),
        timeline="".join(_timeline(spans, end_s)),
        memory="".join(_memory(samples, run.budget_bytes, end_s)),
        head="".join(f"<th>{title}</th>" for title in ("proof", "state", *TITLES)),
        proofs="".join(_proof_rows(detail)),
    )


def _facts(detail: RunDetail) -> list[str]:
    run = detail.run
    begun = f"begun {local(run.started_at)} on {run.host}, version {run.code_version}"
    return [begun, *totals(detail, None)]


def _proof_rows(detail: RunDetail) -> Iterator[str]:
    for each in detail.proofs:
        figures = (seconds(getattr(each.seconds, f"{stage}_s")) for stage in STAGES)
        cells = (each.proof.name, each.proof.state, *figures)
        yield "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


def _timeline(spans: Sequence[Span], end_s: float) -> Iterator[str]:
    partitions = [list(some) for _, some in groupby(spans, key=lambda span: span.partition)]
    height = len(partitions) * ROW + 20
    yield f'<svg viewBox="0 0 {WIDTH + LABEL} {height}" width="100%">'
    yield from _axis(end_s, height - 8)
    for row, some in enumerate(partitions):
        yield f'<text x="0" y="{row * ROW + ROW - 3}">{escape(some[0].partition)}</text>'
        for span in some:
            yield _bar(span, row * ROW, end_s)
    yield "</svg>"


def _bar(span: Span, y: int, end_s: float) -> str:
    until_s = end_s if span.ended_s is None else span.ended_s
    x, width = LABEL + span.started_s / end_s * WIDTH, (until_s - span.started_s) / end_s * WIDTH
    cause = f" for {span.wait_cause}" if span.wait_cause else ""
    told = escape(f"{span.partition}: {span.stage}{cause}, {until_s - span.started_s:.3f} s")
    return (
        f'<rect class="{span.stage}" x="{x:.2f}" y="{y + 2}" width="{width:.2f}" height="{ROW - 4}">'
        f"<title>{told}</title></rect>"
    )


def _memory(samples: Sequence[MemorySample], budget_bytes: int | None, end_s: float) -> Iterator[str]:
    if not samples:
        yield "<p>No memory was sampled.</p>"
        return
    rss = [(sample.at_s, sample.rss_bytes) for sample in samples if sample.rss_bytes is not None]
    reserved = [(sample.at_s, sample.reserved_bytes) for sample in samples]
    top = max(budget_bytes or 0, *(value for _, value in [*rss, *reserved])) or 1
    yield f'<svg viewBox="0 0 {WIDTH + LABEL} {PLOT + 20}" width="100%">'
    yield from _axis(end_s, PLOT + 12)
    for name, points in (("rss", rss), ("reserved", reserved)):
        places = " ".join(
            f"{LABEL + at_s / end_s * WIDTH:.1f},{PLOT - value / top * PLOT:.1f}" for at_s, value in points
        )
        yield f'<polyline class="{name}" points="{places}"/>'
    if budget_bytes:
        y = PLOT - budget_bytes / top * PLOT
        yield f'<line class="budget" x1="{LABEL}" x2="{LABEL + WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>'
    yield f'<text x="0" y="10">{format_size(top)}</text><text x="0" y="{PLOT}">0</text></svg>'


def _axis(end_s: float, y: int) -> Iterator[str]:
    for tick in range(MOST_TICKS + 1):
        x = LABEL + tick / MOST_TICKS * WIDTH
        yield f'<line class="tick" x1="{x}" x2="{x}" y1="0" y2="{y - 10}"/>'
        yield f'<text x="{x}" y="{y}" text-anchor="middle">{end_s * tick / MOST_TICKS:.3g} s</text>'
