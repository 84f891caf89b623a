"""The table that ends a batch, the same for real and simulated runs, from the rows of the history."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import dropwhile
from typing import TYPE_CHECKING, Any, TypeVar

from rich.box import SIMPLE
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from config import format_size

if TYPE_CHECKING:
    from db import ProofDetail, RunDetail, RunSummary

MOST_LISTED = 60  # proofs of a run: rich takes a millisecond for each, and who reads thousands?
RUN_ID_SHOWN = 13  # of a UUIDv7: its milliseconds, which `cuzk history show` takes for the whole
WIDTH_OF_A_FILE = 1_000  # rich would cut what is not printed on a terminal to 80 columns

T = TypeVar("T")
STAGES = ("wait", "load", "synthesize", "queue", "prove", "verify")
TITLES = ("waited", "loaded", "synthesized", "queued", "proved", "verified")


def print_run(detail: RunDetail, most: int | None = MOST_LISTED) -> None:
    """Print a run's proofs with the seconds of each stage, then its totals.

    Of more than `most` proofs the first and the last are listed, and as many errors; None: all.
    """
    title = f"{detail.run.name}, {detail.run.source} run {detail.run.id}; seconds"
    made = table("proof", "state", *TITLES, title=Text(title), title_justify="left", right=TITLES)
    first, left_out, last = ends(detail.proofs, most)
    for proof in first:
        made.add_row(*_proof_cells(proof))
    if left_out:
        made.add_row(f"… {left_out} more …")
    for proof in last:
        made.add_row(*_proof_cells(proof))
    print_parts(made, *totals(detail, most))


def ends(proofs: Sequence[T], most: int | None) -> tuple[Sequence[T], int, Sequence[T]]:
    """The first, how many are left out, and the last."""
    if most is None or len(proofs) <= most:
        return proofs, 0, ()
    half = most // 2
    return proofs[: most - half], len(proofs) - most, proofs[len(proofs) - half :]


def print_runs(summaries: list[RunSummary]) -> None:
    """Print a line for each run, in the order given."""
    right = ("seconds", "a proof", "peak reserved")
    made = table("run", "source", "batch", "state", "started", "proofs", *right, right=right)
    for summary in summaries:
        run = summary.run
        made.add_row(
            run.id[:RUN_ID_SHOWN],
            run.source,
            run.name,
            run.state,
            f"{run.started_at.astimezone():%Y-%m-%d %H:%M:%S}",
            f"{summary.succeeded_count} of {summary.proof_count}",
            _number(summary.seconds),
            _number(summary.seconds_a_proof),
            format_size(run.peak_reserved_bytes) if run.peak_reserved_bytes is not None else "–",
        )
    print_parts(made)


def print_parts(*parts: Table | Text | str) -> None:
    """Print the parts without empty lines around them, and where no terminal shows it, without the blanks
    that end a table's lines. A table that is wider than the terminal has a line for each cell instead."""
    terminal = console()
    with terminal.capture() as captured:
        for part in parts:
            if isinstance(part, PlainTable) and _width(part, terminal) > terminal.width:
                part = part.spelled_out()
            as_it_is = Text(printable(part)) if isinstance(part, str) else part
            terminal.print(as_it_is, soft_wrap=not isinstance(part, Table))
    lines = captured.get().rstrip().splitlines()
    if not terminal.is_terminal:
        lines = [line.rstrip() for line in lines]
    print("\n".join(dropwhile(lambda line: not line.strip(), lines)))


def printable(text: str) -> str:
    r"""With what would steer a terminal written out, as \x1b."""
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


class PlainTable(Table):
    """A table whose cells are shown as they are: rich would take [words] in them for markup."""

    def __init__(self, heads: Sequence[str], **options: Any) -> None:
        super().__init__(**options)
        self._heads, self._cells = heads, list[tuple[str, ...]]()

    def add_row(self, *cells: str) -> None:  # type: ignore[override]  # all that is added here
        self._cells.append(cells)
        super().add_row(*(Text(printable(cell)) for cell in cells))

    def spelled_out(self) -> str:
        """Each row as lines of a column's head and the cell, with an empty line before; no empty cells."""
        width = max(map(len, self._heads), default=0)
        lines = [str(self.title)] if self.title is not None else []
        for cells in self._cells:
            pairs = zip(self._heads, cells, strict=False)  # a row may have fewer cells
            lines += ["", *(f"{head:{width}}  {cell}" for head, cell in pairs if cell)]
        return "\n".join(lines) + "\n"


def console() -> Console:
    found = Console(highlight=False)
    return found if found.is_terminal else Console(highlight=False, width=WIDTH_OF_A_FILE)


def _width(part: PlainTable, terminal: Console) -> int:
    """That of all its cells in full."""
    return Measurement.get(terminal, terminal.options.update(width=WIDTH_OF_A_FILE), part).maximum


def table(*columns: str, right: tuple[str, ...], **options: Any) -> PlainTable:
    """An empty table with these columns, those of `right` set to the right."""
    made = PlainTable(columns, box=SIMPLE, pad_edge=False, **options)
    for column in columns:
        made.add_column(Text(printable(column)), justify="right" if column in right else "left", no_wrap=True)
    return made


def run_values(summary: RunSummary) -> dict[str, Any]:
    """What is listed of a run, for programs: bytes, seconds, moments in UTC."""
    run = summary.run
    return {
        "run_id": run.id,
        "source": run.source,
        "name": run.name,
        "state": run.state,
        "host": run.host,
        "code_version": run.code_version,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "proofs_asked": summary.proof_count,
        "proofs_succeeded": summary.succeeded_count,
        "seconds": summary.seconds,
        "peak_rss_bytes": run.peak_rss_bytes,
        "peak_reserved_bytes": run.peak_reserved_bytes,
        "budget_bytes": run.budget_bytes,
        "error": run.error,
    }


def _proof_cells(detail: ProofDetail) -> list[str]:
    seconds = [_number(getattr(detail.seconds, f"{stage}_s")) for stage in STAGES]
    return [detail.proof.name, detail.proof.state, *seconds]


def totals(detail: RunDetail, most: int | None) -> list[str]:
    run, summary = detail.run, detail.summary
    lines = [f"{run.state}: {summary.succeeded_count} of {summary.proof_count} proofs"]
    if summary.seconds is not None:
        lines[0] += f" in {summary.seconds:.2f} s"
    if summary.seconds_a_proof is not None:
        lines[0] += f", {summary.seconds_a_proof:.2f} s a proof"
    if run.peak_rss_bytes is not None:
        lines.append(f"peak RSS {format_size(run.peak_rss_bytes)}")
    if run.peak_reserved_bytes is not None and run.budget_bytes is not None:
        used = format_size(run.peak_reserved_bytes)
        lines.append(f"peak reserved {used} of a budget of {format_size(run.budget_bytes)}")
    errors = [_named(p.proof.name, p.proof.error) for p in detail.proofs if p.proof.error]
    first, left_out, last = ends(errors, most)
    errors = [*first, *([f"… {left_out} more …"] if left_out else []), *last]
    return lines + errors + ([run.error] if run.error and not errors else [])


def _named(name: str, error: str) -> str:
    """An error with the proof's name before it, once: a real run's begins with the name already."""
    return f"{name}: {error.removeprefix(f'{name}: ')}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
