"""`cuzk bench stress`: several circuits at given rates, for a time."""

from __future__ import annotations

import sys
from typing import Any

import click

from cli.bench.daemon_options import Duration, Where, run_options
from cli.bench.driven import driven
from config.bounds import MOST

UNITS_S = {"s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}
EXAMPLE = "merkle=2/s or porep-32g=6/h"


class Rate(click.ParamType):
    """A circuit and how often it comes: NAME=NUMBER/UNIT."""

    name = "rate"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, float]:
        if isinstance(value, tuple):
            return value
        circuit, _, rate = value.partition("=")
        number, _, unit = rate.partition("/")
        try:
            a_second = float(number) / UNITS_S[unit.strip()]
        except (ValueError, KeyError):
            a_second = 0.0
        if not circuit.strip() or not 0 < a_second <= MOST:
            self.fail(f"found {value!r}, expected a circuit and its rate, as {EXAMPLE}", param, ctx)
        return circuit.strip(), a_second


@click.command(short_help="Mix circuits at given rates for a time.")
@click.option(
    "--mix",
    "mix",
    type=Rate(),
    multiple=True,
    required=True,
    metavar="NAME=RATE",
    help=f"A circuit and how often it comes, as {EXAMPLE}; may be repeated.",
)
@click.option(
    "--duration",
    "duration_s",
    type=Duration(),
    default=60.0,
    show_default="60s",
    metavar="TIME",
    help="For how long proofs come; those that are open then are waited for.",
)
@click.option(
    "--most-open",
    type=click.IntRange(1, MOST),
    default=1000,
    show_default=True,
    help="Proofs at a time; what comes beyond is left out, and counted.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Of the times at which they come.")
@click.option("--budget", metavar="SIZE", help="Of the daemon that --spawn starts.")
@run_options
def stress(
    mix: tuple[tuple[str, float], ...],
    duration_s: float,
    most_open: int,
    seed: int,
    budget: str | None,
    where: Where,
) -> None:
    """Let proofs come by themselves, as of many clients that know nothing of one another.

    Ends with how many were made, what each took from asking to the proof, and how the daemon's RSS grew:
    a straight line through it, without the first tenth of the time. An hour of this is a soak.
    """
    from bench.asked import PublicOptions, asked
    from bench.driving import drive
    from bench.works import at_rates

    asks = [(asked(circuit, None, PublicOptions()), rate) for circuit, rate in mix]
    work = at_rates(asks, duration_s, most_open, seed)
    title = " + ".join(f"{circuit} {60 * rate:g} a minute" for circuit, rate in mix)
    plan = {
        "command": "stress",
        "mix": dict(mix),
        "duration_s": duration_s,
        "most_open": most_open,
        "seed": seed,
    }
    finished = driven(
        where,
        budget,
        lambda session: drive(
            session, f"{title}, {duration_s:g} s", [each for each, _ in asks], None, 1, plan, work
        ),
    )
    sys.exit(0 if finished.summary.succeeded == finished.summary.asked else 1)
