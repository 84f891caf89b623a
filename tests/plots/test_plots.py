"""Pictures against the rows that they are drawn from: axes, labels, bars, and the pixels of the PNG."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.image import imread
from matplotlib.text import Text

from db import MemorySample, Partition, Proof, Run, Stage, StageName, open_history
from plots import (
    Bar,
    MemoryPoint,
    PageTable,
    PlottedRun,
    Point,
    Series,
    gantt_png,
    html_page,
    lines_png,
    memory_png,
    plotted_run,
    points_png,
)
from plots.figure import COLOURS, byte_unit, time_unit
from plots.gantt import COLUMNS, gantt_figure, lines_of, spans_of
from plots.memory import MOST_POINTS, memory_figure, thinned
from plots.points import points_figure
from plots.ticks import in_as_many_decimals, round_numbers

GIB = 2**30
RUN = PlottedRun(
    "porep ×2",
    8 * GIB,
    (MemoryPoint(0.0, 2 * GIB, GIB), MemoryPoint(50.0, 6 * GIB, 4 * GIB), MemoryPoint(100.0, 0, GIB)),
    (
        Bar("synthesis", "porep", 0.0, 40.0),
        Bar("synthesis", "wpost", 10.0, 30.0),
        Bar("disk", "porep", 0.0, 5.0),
        Bar("gpu0", "porep", 40.0, 90.0),
        Bar("verify", "porep", 90.0, 100.0),
    ),
)


def decoded(png: bytes) -> Any:
    """Red, green and blue of each pixel, from the bottom up, as matplotlib counts."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    return imread(BytesIO(png), format="png")[::-1, :, :3]


def pictures_in(page: str) -> list[bytes]:
    return [base64.b64decode(each) for each in re.findall(r'src="data:image/png;base64,([^"]+)"', page)]


def pixel(figure: Any, png: bytes, x: float, y: float) -> Any:
    column, row = figure.axes[0].transData.transform((x, y))
    return decoded(png)[round(row), round(column)]


def texts_of(figure: Any) -> dict[str, tuple[float, float]]:
    """What is written beside the axes, and where, in pixels from the lower left; of two "0" the last."""
    return {
        each.get_text(): each.get_transform().transform(each.get_position())
        for each in figure.artists
        if isinstance(each, Text)
    }


def test_memory_has_the_axes_and_lines_of_its_rows() -> None:
    axes = memory_figure(RUN).axes[0]
    texts = axes.get_xlabel(), axes.get_ylabel(), axes.get_title()
    assert texts == ("seconds", "memory, GiB", "Memory of porep ×2")
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert list(lines["reserved"].get_xdata()) == [0, 50, 100]
    assert list(lines["reserved"].get_ydata()) == [2, 6, 0]
    assert list(lines["resident"].get_ydata()) == [1, 4, 1]
    assert list(lines["budget"].get_ydata()) == [8, 8]


def test_memory_is_drawn_where_it_was_reserved() -> None:
    figure, png = memory_figure(RUN), memory_png(RUN)
    figure.canvas.draw()  # which makes the layout
    above, below = pixel(figure, png, 75, 7), pixel(figure, png, 75, 2)
    assert np.allclose(above, 1.0)
    assert not np.allclose(below, 1.0)
    assert np.allclose(pixel(figure, png, 25, 3), 1.0)  # before the step up


def test_numbers_stand_where_their_value_is_drawn() -> None:
    figure = memory_figure(RUN)
    axes, texts = figure.axes[0], texts_of(figure)
    for seconds in (20, 100):
        assert texts[str(seconds)][0] == pytest.approx(axes.transData.transform((seconds, 0))[0])
    for gibibytes in (2, 8):
        assert texts[str(gibibytes)][1] == pytest.approx(axes.transData.transform((0, gibibytes))[1])


@pytest.mark.parametrize("most", [1e-9, 0.7, 1.0, 4.6, 8.8, 330.0, 98_765.0])
def test_numbers_are_round_a_few_and_in_reach(most: float) -> None:
    numbers = round_numbers(most)
    assert numbers[0] == 0
    assert most / 2 < numbers[-1] <= most
    assert 3 <= len(numbers) <= 10
    steps = np.diff(numbers) / 10 ** np.floor(np.log10(numbers[1]))
    assert np.allclose(steps, steps[0])
    assert min(abs(steps[0] - each) for each in (1, 2, 2.5, 5, 10)) < 1e-6


def test_numbers_have_as_many_decimals_as_the_longest() -> None:
    assert in_as_many_decimals([0, 2.5, 5]) == ["0.0", "2.5", "5.0"]
    assert in_as_many_decimals([0, 50, 100]) == ["0", "50", "100"]
    assert in_as_many_decimals([]) == []


def test_without_measured_bytes_or_budget_there_is_no_such_line() -> None:
    run = PlottedRun("bare", None, (MemoryPoint(0.0, 10), MemoryPoint(1.0, 0)), ())
    labels = [line.get_label() for line in memory_figure(run).axes[0].get_lines()]
    assert labels == ["reserved"]


def test_a_budget_far_above_is_told_and_does_not_press_the_lines_flat() -> None:
    run = PlottedRun("small", 120 << 30, (MemoryPoint(0.0, 1 << 28), MemoryPoint(1.0, 1 << 29)), ())
    axes = memory_figure(run).axes[0]
    assert axes.get_ylim()[1] == pytest.approx(512 * 1.25)
    assert "budget, far above at 120 GiB" in [line.get_label() for line in axes.get_lines()]


def test_thinning_keeps_the_peak_and_the_order() -> None:
    points = [MemoryPoint(float(at), 1 + at % 7) for at in range(10 * MOST_POINTS)]
    points[12_345] = MemoryPoint(12_345.0, 999)
    kept = thinned(points)
    assert len(kept) <= MOST_POINTS
    assert MemoryPoint(12_345.0, 999) in kept
    assert kept == sorted(kept, key=lambda point: point.at_s)
    same_time = [MemoryPoint(1.0, number) for number in range(MOST_POINTS + 1)]
    assert thinned(same_time) == [MemoryPoint(1.0, MOST_POINTS)]


def test_stages_at_once_lie_on_lines_of_their_own() -> None:
    lines = lines_of(RUN.bars)
    assert list(lines) == ["disk", "synthesis · 1", "synthesis · 2", "gpu0", "verify"]
    assert [bar.circuit for bar in lines["synthesis · 2"]] == ["wpost"]
    after = (*RUN.bars, Bar("synthesis", "porep", 30.0, 35.0))
    assert len(lines_of(after)["synthesis · 2"]) == 2  # one after the other on one line


def test_every_bar_is_drawn_where_its_row_says() -> None:
    figure, png = gantt_figure(RUN), gantt_png(RUN)
    figure.canvas.draw()
    axes = figure.axes[0]
    assert axes.get_xlabel() == "seconds"
    assert set(lines_of(RUN.bars)) <= set(texts_of(figure))
    colours = {"porep": COLOURS[0], "wpost": COLOURS[1]}
    for place, line in enumerate(lines_of(RUN.bars).values()):
        for bar in line:
            middle = pixel(figure, png, (bar.started_s + bar.ended_s) / 2, place)
            assert np.allclose(middle, to_rgb(colours[bar.circuit]), atol=0.02), bar
        assert np.allclose(pixel(figure, png, 99.0, place), 1.0) or line[-1].ended_s > 99.0
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["porep", "wpost"]


def test_all_of_a_long_run_is_seen_and_what_is_drawn_wider_is_told() -> None:
    """A hundred days of a second of work every hour, and one proof of another circuit beside it."""
    hours = range(2400)
    bars = [Bar("gpu0", "porep", 3600.0 * hour, 3600.0 * hour + 1.0) for hour in hours]
    run = PlottedRun("long", None, (), (*bars, Bar("gpu0", "wpost", 4_321_800.0, 4_321_801.0)))
    figure, png = gantt_figure(run), gantt_png(run)
    axes = figure.axes[0]
    assert axes.get_xlabel() == "days; no bar is drawn below 180 minutes, and closer ones as one"
    assert sum(len(collection.get_paths()) for collection in axes.collections) <= 2 * COLUMNS
    figure.canvas.draw()
    for day in (1.0, 25.0, 99.0):
        assert np.allclose(pixel(figure, png, day, 0), to_rgb(COLOURS[0]), atol=0.02)
    assert np.allclose(pixel(figure, png, 4_321_800.0 / 86_400 + 0.05, 0), to_rgb(COLOURS[1]), atol=0.02)
    assert gantt_figure(RUN).axes[0].get_xlabel() == "seconds"


@pytest.mark.parametrize("draw", [gantt_figure, memory_figure])
def test_no_title_is_wider_than_its_picture(draw: Any) -> None:
    figure = draw(replace(RUN, title="porep-32g ×20, machine.memory=256GiB, " * 5))
    figure.canvas.draw()
    box = figure.axes[0].title.get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.width


def test_bars_closer_than_a_column_of_pixels_are_one() -> None:
    def spans(*times: tuple[float, float]) -> list[tuple[float, float]]:
        return spans_of([Bar("gpu0", "porep", start_s, end_s) for start_s, end_s in times], 1.0)

    assert spans((0.0, 10.0), (10.1, 20.0)) == [(0.0, 10.0), (10.1, pytest.approx(9.9))]  # an edge parts them
    assert spans((0.0, 0.1), (0.5, 0.6), (1.9, 2.0), (5.0, 5.1)) == [
        (0.0, pytest.approx(2.9)), (5.0, 1.0)
    ]  # fmt: skip
    assert spans((0.0, 10.0), (10.2, 10.3), (10.4, 10.5)) == [(0.0, 10.0), (10.2, pytest.approx(1.2))]


def test_a_run_of_nothing_is_drawn() -> None:
    empty = PlottedRun("nothing", None, (), ())
    assert decoded(memory_png(empty)).any()
    assert decoded(gantt_png(empty)).any()


def test_the_same_rows_give_the_same_bytes() -> None:
    assert memory_png(RUN) == memory_png(RUN)
    assert gantt_png(RUN) == gantt_png(RUN)


def test_points_have_their_error_bars() -> None:
    series = [Series("a", (Point(1, 10, 8, 13, "x"), Point(2, 20)), joined=True), Series("b", (Point(3, 5),))]
    axes = points_figure("t", "cost", "proofs an hour", series).axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_ylim()[0]) == ("cost", "proofs an hour", 0)
    bars = axes.containers[0].lines[2][0].get_segments()
    assert np.allclose(bars, [[[1, 8], [1, 13]], [[2, 20], [2, 20]]])
    assert [text.get_text() for text in axes.texts] == ["x"]
    named = points_figure("t", "", "proofs an hour", series, ["none", "one\ntwo", "three", "four"]).axes[0]
    assert [tick.get_text() for tick in named.get_xticklabels()] == ["none", "one\ntwo", "three", "four"]
    assert named.get_xlim() == (-0.5, 3.5)
    assert decoded(points_png("t", "cost", "proofs an hour", series)).any()


def test_the_page_holds_its_pictures_and_escapes_its_texts() -> None:
    table = PageTable("Latency <s>", ("circuit", "p99"), (("porep & co", "3.5"),))
    page = html_page(RUN, ["1 < 2"], [table], {"More": b"more"})
    assert pictures_in(page) == [memory_png(RUN), gantt_png(RUN), b"more"]
    assert pictures_in(html_page(RUN, own={"Drawn before": b"png"})) == [b"png"]
    assert "<li>1 &lt; 2</li>" in page
    assert "<td>porep &amp; co</td><td>3.5</td>" in page
    assert "http" not in page.replace("http-equiv", "")


@pytest.mark.parametrize(("most_s", "unit"), [(0, "seconds"), (179, "seconds"), (180, "minutes"),
                                              (10_800, "hours"), (2_592_000, "days")])  # fmt: skip
def test_times_are_shown_in_a_unit_that_reads_well(most_s: float, unit: str) -> None:
    assert time_unit(most_s)[1] == unit
    assert byte_unit(most_s * 2**30)[1] == ("bytes" if not most_s else "GiB")


def test_a_run_of_the_history_is_drawn_from_its_rows(tmp_path: Path) -> None:
    run = Run(source="sim", name="batch", code_version="1", budget_bytes=100)
    proof = Proof(run_id=run.id, name="porep #1", circuit="porep", submitted_s=0.0)
    partition = Partition(proof_id=proof.id, index=0, device="gpu0")
    sample = MemorySample(run_id=run.id, sequence=0, at_s=1.0, reserved_bytes=9)
    names: tuple[StageName, ...] = ("wait", "load", "synthesize", "prove", "verify")
    times = ((0.0, 1.0), (1.0, 2.0), (2.0, 4.0), (4.0, 8.0), (8.0, None))
    stages = [
        Stage(partition_id=partition.id, sequence=number, name=name, started_s=started_s, ended_s=ended_s)
        for number, (name, (started_s, ended_s)) in enumerate(zip(names, times, strict=True))
    ]
    with open_history(tmp_path / "history.db") as history:
        with history.writer() as writer:
            writer.insert(run, proof, partition, sample, *stages)
        drawn = plotted_run(history, run.id)
    assert drawn.title == f"batch, sim run {run.id}"
    assert drawn.memory == (MemoryPoint(1.0, 9),)
    assert drawn.bars == (
        Bar("disk", "porep", 1.0, 2.0),
        Bar("synthesis", "porep", 2.0, 4.0),
        Bar("gpu0", "porep", 4.0, 8.0),
    )
    assert drawn.end_s == 8.0


@pytest.mark.parametrize("name", ["po\N{PARTY POPPER}rep", "po\u6f22rep", r"po $\frac$ rep", "a$b$c"])
def test_names_are_drawn_as_they_are_without_a_warning(name: str, recwarn: pytest.WarningsRecorder) -> None:
    run = replace(RUN, title=name, bars=(Bar(name, name, 0.0, 1.0),))
    point = Series(name, (Point(1.0, 1.0, label=name),))
    for png in (
        gantt_png(run),
        memory_png(run),
        points_png(name, name, name, [point, point], [name]),
        lines_png(name, name, [0.0, 1.0], {name: [1.0, 2.0]}),
    ):
        assert decoded(png).size
    assert not recwarn.list
