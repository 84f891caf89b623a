"""A page that needs nothing beside it: sentences, tables, and pictures inside it."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template

from plots.gantt import gantt_png
from plots.memory import memory_png
from plots.rows import PlottedRun

TEMPLATE = Path(__file__).with_name("page.html")


@dataclass(frozen=True)
class PageTable:
    """A table as texts; every row has a cell for each column."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def html_page(
    run: PlottedRun,
    facts: Sequence[str] = (),
    tables: Sequence[PageTable] = (),
    pictures: Mapping[str, bytes] | None = None,
    own: Mapping[str, bytes] | None = None,
) -> str:
    """A run's page: facts, tables, its own pictures, and more PNG `pictures` by title.

    own: those of `run_pictures`; None: they are drawn here.
    """
    drawn = {**(run_pictures(run) if own is None else own), **(pictures or {})}
    return Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        title=escape(run.title),
        facts="".join(f"<li>{escape(fact)}</li>" for fact in facts),
        tables="\n".join(map(_table, tables)),
        pictures="\n".join(_picture(title, png) for title, png in drawn.items()),
    )


def run_pictures(run: PlottedRun, memory: bytes | None = None) -> dict[str, bytes]:
    """A run's memory and, where there are any, its stages by resource, in this order; PNG by title.

    memory: its picture; None: it is drawn here.
    """
    drawn = {"Memory against the budget": memory_png(run) if memory is None else memory}
    if run.bars:
        drawn["Stages by resource"] = gantt_png(run)
    return drawn


def _table(table: PageTable) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in table.columns)
    rows = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in table.rows)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table><caption>{escape(table.title)}</caption><tr>{head}</tr>{body}</table>"


def _picture(title: str, png: bytes) -> str:
    data = b64encode(png).decode("ascii")
    return f'<h2>{escape(title)}</h2>\n<img alt="{escape(title)}" src="data:image/png;base64,{data}">'
