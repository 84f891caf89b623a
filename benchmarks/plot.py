"""A picture of whole proofs: a panel a machine, a group of bars a circuit, a bar a contestant."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.contestants.registry import ENTRIES, OURS
from benchmarks.results import Measurement, Result
from benchmarks.roofline import least_s, product_s

TASK = "proof "
PANEL_INCHES = (9.0, 3.6)
GROUP_WIDTH = 0.8


def plot(results: Sequence[Result], to: Path) -> None:
    """Write a PNG. A machine that made no proofs, such as for kernels alone, gets no panel.

    Raises ModuleNotFoundError where matplotlib is not installed.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    shown = [each for each in results if _proofs(each)] or results[:1]
    width, height = PANEL_INCHES
    figure, axes = pyplot.subplots(len(shown), 1, figsize=(width, height * len(shown)), squeeze=False)
    for axis, result in zip(axes[:, 0], shown, strict=True):
        _panel(axis, result)
    figure.tight_layout()
    figure.savefig(to, dpi=110, metadata={"Software": None})  # the same bytes from the same results
    pyplot.close(figure)


def _proofs(result: Result) -> list[Measurement]:
    return [each for each in result.measurements if each.task.startswith(TASK) and each.runs]


def _panel(axis: Any, result: Result) -> None:
    proofs = _proofs(result)
    names = [entry.name for entry in ENTRIES if any(entry.name in each.runs for each in proofs)]
    width = GROUP_WIDTH / max(1, len(names))
    for number, name in enumerate(names):
        places = [place for place, each in enumerate(proofs) if name in each.runs]
        heights = [proofs[place].runs[name].median_s for place in places]
        bars = axis.bar([place + number * width for place in places], heights, width, label=name)
        axis.bar_label(bars, fmt="%.2g", fontsize=6)
    _rooflines(axis, result, proofs, -width / 2)
    middle = (GROUP_WIDTH - width) / 2
    axis.set_xticks([place + middle for place in range(len(proofs))], [_label(each) for each in proofs])
    axis.tick_params(axis="x", labelsize=7)
    axis.set_yscale("log")
    axis.margins(y=0.15)
    axis.set_ylabel("seconds a proof")
    axis.set_title(f"{result.machine['processor']}, {result.machine['cores_used']} cores", fontsize=9)
    axis.legend(fontsize=7)


def _rooflines(axis: Any, result: Result, proofs: Sequence[Measurement], left: float) -> None:
    """A line across each group: no figure of cuzk can be below it."""
    rates = product_s(result, OURS)
    floors = {place: floor_s for place, each in enumerate(proofs) if (floor_s := least_s(each, rates))}
    lefts = [place + left for place in floors]
    rights = [each + GROUP_WIDTH for each in lefts]
    axis.hlines(list(floors.values()), lefts, rights, "black", "dashed", label="roofline of cuzk")


def _label(each: Measurement) -> str:
    return f"{each.task.removeprefix(TASK)}\n{each.size:,}\n{each.curve}"
