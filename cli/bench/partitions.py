"""`cuzk bench partitions`: how many partitions at once are best."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.bench.in_process import budget_option, measured, show, type_option
from cli.options import config_option, json_option, say
from config.bounds import MOST, MOST_PROOFS

if TYPE_CHECKING:
    from bench.measured import MeasuredRun
    from bench.partitions import SweepPoint

BUDGET = "budget"


class Numbers(click.ParamType):
    """Several whole numbers between commas; "budget": as many as the memory budget admits."""

    name = "numbers"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int | None, ...]:
        if isinstance(value, tuple):
            return value
        return tuple(self._number(each.strip(), param, ctx) for each in value.split(","))

    def _number(self, text: str, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        if text == BUDGET:
            return None
        if not text.isdecimal() or not 1 <= int(text) <= MOST:
            self.fail(
                f'found {text!r}, expected numbers from 1 to {MOST} or "{BUDGET}", as 1,2,3,10', param, ctx
            )
        return int(text)


@click.command(short_help="Prove under several numbers of partitions at once.")
@type_option
@click.option(
    "--at-once",
    "--slot-sizes",
    "at_once",
    type=Numbers(),
    default=(1, 2, 3, 10, None),
    show_default="1,2,3,10,budget",
    metavar="N,N,…",
    help='How many partitions between admission and proof; "budget": as many as fit.',
)
@click.option(
    "--partitions",
    type=click.IntRange(1, MOST),
    default=10,
    show_default=True,
    help="Groth16 proofs that make up one proof.",
)
@click.option(
    "--num-proofs",
    "-n",
    "proofs",
    type=click.IntRange(1, MOST_PROOFS),
    default=1,
    show_default=True,
    help="Proofs under each number.",
)
@budget_option
@config_option
@json_option
def partitions(
    circuit: str,
    at_once: tuple[int | None, ...],
    partitions: int,
    proofs: int,
    budget: str | None,
    config_path: Path | None,
    as_json: bool,
) -> None:
    """Prove the same under each number of partitions at once, after a proof that loads what they share.

    Numbers that the budget has no room for are left out, each with what it would take. Every sweep's runs
    are in the history; their peaks of memory are as sampled.
    """
    import engine
    from bench.errors import BenchError
    from bench.partitions import fitting
    from config import load_config
    from flows.parameters.batch import with_budget
    from plots import PageTable

    config = with_budget(load_config(config_path), budget)
    limits, spec = engine.policy_limits(config), engine.resolve(circuit, config)
    engine.prepare(spec, say)
    engine.compile_for_proofs(config, spec.zkey, say)
    fit = fitting(spec, limits, [each for each in at_once if each is not None], say)
    wanted = [each for each in at_once if each is None or each in fit]
    if not wanted:
        raise BenchError(f"circuit {circuit!r}: none of the numbers fits the budget; set --budget to more")
    plan = {"circuit": circuit, "at_once": wanted, "partitions": partitions, "proofs": proofs}
    title = f"{circuit}, {partitions} partitions ×{proofs}, so many at once"
    with measured(title, config, plan, limits.budget_bytes) as run:
        points = asyncio.run(_sweep(run, spec, config, limits, wanted, proofs, partitions))
        best = min(points, key=lambda each: each.seconds)
        table = PageTable("Partitions at once", COLUMNS, _rows(points))
        run.tables.append(table)
        if not as_json:
            print("\n".join(_lines((COLUMNS, *table.rows))))
        show(run, points, [f"best: {best.name}, {best.seconds_a_proof:.3f} s a proof"], as_json)


async def _sweep(
    run: MeasuredRun, spec: Any, config: Any, limits: Any, wanted: Any, proofs: int, partitions: int
) -> list[SweepPoint]:
    from bench.partitions import reserved_bytes, sweep
    from db import open_history
    from flows.ends.signals import cancelled_by_signals
    from plots import Bar

    opened = open_history(config.history_url(), spool=config.history_spool(), hide=config.history.hash)
    with cancelled_by_signals(), opened as history, history.writer() as writer:
        folder = run.folder.path / "proofs"
        run.reserved_bytes = reserved_bytes
        points = await sweep(spec, config, limits, wanted, proofs, partitions, folder, writer, run.say)
    run.bars += [Bar(each.name, spec.name, each.started_s, each.started_s + each.seconds) for each in points]
    return points


COLUMNS = ("partitions", "s a proof", "peak RSS", "reserved")


def _rows(points: list[SweepPoint]) -> tuple[tuple[str, ...], ...]:
    from config import format_size

    return tuple(
        (
            each.name,
            f"{each.seconds_a_proof:.3f}",
            format_size(each.peak_rss_bytes),
            format_size(each.peak_reserved_bytes),
        )
        for each in points
    )


def _lines(rows: tuple[tuple[str, ...], ...]) -> list[str]:
    return [
        "".join(f"{cell:<12}" if not at else f"{cell:>12}" for at, cell in enumerate(row)) for row in rows
    ]
