"""The page: for each machine what it is, which bars are met, and every figure beside the peers'."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.bars import BARS, Bar
from benchmarks.bars_gpu import GPU_BARS
from benchmarks.contestants.registry import ENTRIES, OURS, OURS_64
from benchmarks.plot import plot
from benchmarks.report_gpu import gpu_section, is_of_gpu
from benchmarks.results import Measurement, Result, Runs
from benchmarks.roofline import least_s, operation_s, product_s
from benchmarks.table import table

BAR_COLUMNS = "what", "measured", "at most", "", "by processor time a thread", "field products"
LAST_COLUMNS = "processor time of cuzk", "of the roofline", "faster than the best peer"
HEAD = """# Performance

Written by `python -m benchmarks report`; `python -m benchmarks --help` tells how to measure. Figures are
medians of several runs in seconds, ± half the distance from fastest to slowest, after a warm-up that does not
count. Contestants run in turn on the same cores, with as many threads each, and their answers are compared.
Where one run takes long there is only one. *cuzk, 64-bit* is cuzk with `CUZK_LANES=off`.

- **Proofs** go from an open `.zkey` and `.wtns` to a written proof, in a process that has proved before;
  cuzk's are checked by a pairing as well. groth16py keeps the key in memory and has one thread.
- **Commands** are whole processes: `cuzk prove` and `snarkjs groth16 prove`.
- **sha256** is circomlib's SHA-256 of 64 and of 256 bytes, **bits** a circuit of our own with the same shape,
  **dense** a chain of squarings, in which no scalar is short and no point missing. Sizes are constraints;
  public signals take rows as well, so 2^20 constraints need a domain of 2^21.
- **Processor time** is that of all threads together. What other programs on the machine do hardly changes it.
- **On the GPU** data lies in the device's memory and times are by the wall, until the device has done
  everything; transforms sixteen in a row, all else one by one. Partitions have the proportions of a 32 GiB
  PoRep proof's (`benchmarks/circuits/shaped.py`), go from the witness, a and b on the device to the proof,
  and each proof is verified.
- **Of the roofline** is the time that the work's field products would take, by formula, at the rate of
  products in registers, over the processor time, or the GPU's: the rest can be won without fewer or faster
  products.
"""
BUSY_LOAD = 0.25  # of the machine's cores
BUSY = (
    "**The machine was busy with other work.** Seconds are too many and spreads wide. What holds is the "
    "order in a row, whose contestants ran in turn, and the processor time.\n"
)


def write_report(results: Sequence[Result], to: Path) -> bool:
    """Write the page and a plot of the same name; returns whether there is one, as matplotlib is optional.

    Raises ValueError for no results.
    """
    if not results:
        raise ValueError("no results: give at least one")
    picture = to.with_suffix(".png")
    try:
        plot(results, picture)
    except ModuleNotFoundError:
        shown = []  # nor is a plot of other results
    else:
        shown = [f"![Whole proofs, by machine and contestant]({picture.name})\n"]
    to.write_text("\n".join([HEAD, *shown, *(_machine(result) for result in results)]))
    return bool(shown)


def _machine(result: Result) -> str:
    told = result.machine
    parts = [
        f"## {told['processor']}\n",
        f"{told['cores_used']} of {told['cores']} cores used; {', '.join(told['features'])}; "
        f"load {told['load_before']} before. Python {told['python']}, numba {told['numba']}, "
        f"numpy {told['numpy']}; commit {told['commit']}, {told['measured_at']}.\n",
        f"{', '.join(f'{name} {version}' for name, version in sorted(result.versions.items()))}.\n",
        f"{told['note']}\n" if "note" in told else "",  # of whoever puts results together
        BUSY if float(told["load_before"]) > BUSY_LOAD * told["cores"] else "",
        *(f"Without {name}: {why}\n" for name, why in sorted(result.missing.items())),
        _bars(result),
        gpu_section(result),
        _products(result),
        _figures(result),
    ]
    return "\n".join(part for part in parts if part)


def _bars(result: Result) -> str:
    rows = [row for bar in (*BARS, *GPU_BARS) if (row := _bar(bar, result)) is not None]
    if not rows:
        return ""
    return "### Bars\n\n" + table(BAR_COLUMNS, rows)


def _bar(bar: Bar, result: Result) -> tuple[str, ...] | None:
    figure = bar.figure(result)
    if figure is None:
        return None
    products = "" if figure.products is None else f"{figure.products / 1e6:,.0f} million"
    verdict = "met" if figure.value <= bar.limit else "**missed**"
    processor = "" if figure.processor is None else f"{figure.processor:.3g} {bar.unit}"
    return (
        bar.text,
        f"{figure.value:.3g} {bar.unit}",
        f"{bar.limit:.3g} {bar.unit}",
        verdict,
        processor,
        products,
    )


def _products(result: Result) -> str:
    """As the roofline takes them."""
    rows = []
    for measurement in result.measurements:
        operation, _, field = measurement.task.partition(" ")
        if operation in ("mul", "square"):
            each = {name: operation_s(runs) * 1e9 for name, runs in measurement.runs.items()}
            rows.append(
                (field, operation, *(f"{each[name]:.2f}" if name in each else "" for name in (OURS, OURS_64)))
            )
    return "### Field products, ns\n\n" + table(("field", "", OURS, OURS_64), rows) if rows else ""


def _figures(result: Result) -> str:
    shown = [
        each
        for each in result.measurements
        if each.task.split()[0] not in ("mul", "square") and not is_of_gpu(each)
    ]
    names = [entry.name for entry in ENTRIES if any(entry.name in each.runs for each in shown)]
    rates = product_s(result, OURS)
    header = "what", "curve", "size", "threads", *names, *LAST_COLUMNS
    rows = [
        (*_row(each, names), _processor(each), _roofline(each, rates), _lead(each))
        for each in shown
        if each.runs
    ]
    return "### Figures\n\n" + table(header, rows) if rows else ""


def _row(each: Measurement, names: Sequence[str]) -> tuple[str, ...]:
    cells = (_cell(each.runs.get(name)) for name in names)
    return each.task, each.curve, f"{each.size:,}", str(each.threads), *cells


def _cell(runs: Runs | None) -> str:
    if runs is None:
        return ""
    spread = f" ± {100 * runs.spread:.0f} %" if len(runs.wall_s) > 1 else ", once"
    return f"{runs.median_s:.4g}{spread}"


def _processor(each: Measurement) -> str:
    return f"{each.runs[OURS].median_cpu_s:.4g}" if OURS in each.runs else ""


def _roofline(each: Measurement, rates: dict[str, float]) -> str:
    floor_s = least_s(each, rates)
    if floor_s is None or OURS not in each.runs:
        return ""
    return f"{100 * floor_s * each.threads / each.runs[OURS].median_cpu_s:.0f} %"


def _lead(each: Measurement) -> str:
    peers = {name: runs.median_s for name, runs in each.runs.items() if name not in (OURS, OURS_64)}
    if not peers or OURS not in each.runs:
        return ""
    name = min(peers, key=lambda peer: peers[peer])
    return f"{peers[name] / each.runs[OURS].median_s:.1f} × ({name})"
