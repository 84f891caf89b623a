"""`cuzk capacity`: how many partitions of each circuit really fit, and what bounds them."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.options import conclude, config_option, json_option, say

if TYPE_CHECKING:
    from engine.capacity import CircuitCapacity
    from policy import Limits

COUNTS = ("alone", "beside all", "prove", "under way", "at once")
GPU_SIZES = ("SRS", "a partition")
SIZES = ("SRS", "PCE", "calculator", "working set", "of it phase 1")


@click.command(short_help="Tell how many partitions of each circuit fit, and what bounds them.")
@click.argument("circuits", nargs=-1, metavar="[CIRCUIT]...")
@click.option(
    "--budget", metavar="SIZE", help='Of a machine with so much, as "256GiB" (default: the settings\').'
)
@config_option
@json_option
def capacity(circuits: tuple[str, ...], budget: str | None, config_path: Path | None, as_json: bool) -> None:
    """Tell what a partition of each CIRCUIT needs, and how many fit; without a name, of all configured ones.

    "alone" fit beside the circuit's own SRS and PCE, "beside all" beside those of all the circuits
    listed. The devices "prove" so many at once; "under way" are at most so many that prove, wait for
    a device or synthesize, whatever the memory. "at once" is the smaller of "alone" and "under way",
    and "bound" says which. Where GPUs prove, a GPU "holds" so many partitions beside the circuit's SRS,
    which it keeps once for all of them. A budget in bytes is that of a machine in question; this one need
    not have it.
    """
    from config import load_config
    from engine.capacity import circuit_capacities
    from engine.limits import modelled_limits
    from flows.parameters.batch import with_budget

    config = with_budget(load_config(config_path), budget)
    limits = modelled_limits(config)
    found = circuit_capacities(config, limits, circuits, say)
    if as_json:
        conclude(json.dumps(_values(limits, found)))
    else:
        _print(limits, found)


def _values(limits: Limits, found: list[CircuitCapacity]) -> dict[str, Any]:
    circuits = []
    for each in found:
        values = asdict(each)
        circuits.append(
            values.pop("fits") | values | {"at_once": each.fits.at_once, "bound": each.fits.bound}
        )
    return {"limits": asdict(limits), "circuits": circuits}


def _print(limits: Limits, found: list[CircuitCapacity]) -> None:
    from cli.table import print_parts, table
    from config import format_size

    needed = table("one partition of", *SIZES, right=SIZES)
    fitting = table("partitions of", *COUNTS, "bound", right=COUNTS)
    for each in found:
        fits, pce = each.fits, ("≤ " if each.pce_at_most else "") + format_size(each.pce_bytes)
        others = (each.calculator_bytes, fits.working_bytes, each.phase1_bytes)
        needed.add_row(fits.circuit, format_size(each.srs_bytes), pce, *map(format_size, others))
        counts = (fits.alone, fits.beside_all, fits.on_devices, fits.under_way, fits.at_once)
        fitting.add_row(fits.circuit, *map(str, counts), fits.bound)
    refusals = [each.refusal for each in found if each.refusal]
    print_parts(needed, fitting, *_on_gpus(found), _machine(limits), *refusals)


def _on_gpus(found: list[CircuitCapacity]) -> list[Any]:
    """What GPUs hold, where any proves."""
    from cli.table import table
    from config import format_size

    names = list(dict.fromkeys(name for each in found for name in each.beside_srs))
    if not names:
        return []
    rows = table("on a GPU", "SRS", "a partition", *[f"{name} holds" for name in names], right=GPU_SIZES)
    for each in found:
        counts = [str(each.beside_srs.get(name, "-")) for name in names]
        sizes = map(format_size, (each.device_srs_bytes, each.device_bytes))
        rows.add_row(each.fits.circuit, *sizes, *counts)
    return [rows]


def _machine(limits: Limits) -> str:
    from config import format_size

    devices = ", ".join(f"{device.name} proves {device.workers}" for device in limits.devices)
    return (
        f"a budget of {format_size(limits.budget_bytes)}; {limits.synthesis_slots} synthesize at once,"
        f" if fewer than {limits.synthesis_lookahead} wait; {devices} at once"
    )
