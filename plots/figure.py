"""An empty figure, its axes of time and bytes, and its PNG; no global state, so threads may draw."""

import warnings
from dataclasses import dataclass
from io import BytesIO
from typing import Any

WIDTH_INCHES = 9.0
DPI = 100
TITLE_SIZE, TITLE_LETTERS = 9.0, 105  # as many are as wide as a figure at this size
COLOURS = ("#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1", "#edc948", "#76b7b2", "#9c755f")
TIME_UNITS = ((1.0, "seconds"), (60.0, "minutes"), (3600.0, "hours"), (86400.0, "days"))
BYTE_UNITS = ((1.0, "bytes"), (2.0**10, "KiB"), (2.0**20, "MiB"), (2.0**30, "GiB"))
LEAST_OF_A_UNIT = 3  # below that many the next smaller unit reads better
PNG = {"compress_level": 1}  # PIL's own level takes twice as long for 20 % fewer bytes


X_LABEL_INCHES = 0.31  # from the axis, below its numbers
Y_LABEL_INCHES = 0.22  # from the figure's edge


@dataclass(frozen=True)
class Margins:
    """Inches from the figure's edges to its axes."""

    left: float
    bottom: float
    top: float = 0.3
    right: float = 0.15


def new_figure(height_inches: float, margins: Margins | None = None) -> tuple[Any, Any]:
    """matplotlib's figure, which draws with Agg, and its one pair of axes.

    margins: None: what the texts need. To find that out takes as long as the drawing.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH_INCHES, height_inches), dpi=DPI, layout=None if margins else "constrained")
    FigureCanvasAgg(figure)
    if margins is not None:
        across, down = WIDTH_INCHES, height_inches
        figure.subplots_adjust(
            margins.left / across, margins.bottom / down, 1 - margins.right / across, 1 - margins.top / down
        )
    return figure, figure.add_subplot()


def fit_title(axes: Any) -> None:
    """Small enough that it is not cut off."""
    letters = len(axes.get_title())
    axes.title.set_fontsize(TITLE_SIZE * min(1.0, TITLE_LETTERS / max(letters, 1)))


def put_texts(axes: Any, margins: Margins, title: str, x_label: str, y_label: str = "") -> None:
    """Where the margins leave room. matplotlib would look for it among all other texts, at each drawing."""
    from matplotlib.transforms import blended_transform_factory as blended

    figure = axes.figure
    across, down = figure.get_size_inches()
    axes.set_title(title, y=1.0)
    fit_title(axes)
    axes.set_xlabel(x_label)
    x_place = blended(axes.transAxes, figure.transFigure)
    axes.xaxis.set_label_coords(0.5, (margins.bottom - X_LABEL_INCHES) / down, x_place)
    axes.set_ylabel(y_label)
    y_place = blended(figure.transFigure, axes.transAxes)
    axes.yaxis.set_label_coords(Y_LABEL_INCHES / across, 0.5, y_place)


def time_unit(most_s: float) -> tuple[float, str]:
    """The unit, in seconds and by name, in which times up to `most_s` are shown."""
    return _unit(TIME_UNITS, most_s)


def byte_unit(most_bytes: float) -> tuple[float, str]:
    """As `time_unit`, of bytes."""
    return _unit(BYTE_UNITS, most_bytes)


def png_of(figure: Any) -> bytes:
    """The same bytes from the same figure, which its `savefig` would draw twice."""
    _take_texts_as_they_are(figure)
    written = BytesIO()
    figure.canvas.print_png(written, metadata={"Software": None}, pil_kwargs=PNG)
    return written.getvalue()


def _take_texts_as_they_are(figure: Any) -> None:
    """Names are people's: of two $ matplotlib would make a formula, or an error where it is none."""
    from matplotlib.text import Text

    # What the font lacks is drawn as a box, which says enough. Not by `catch_warnings`, which is no threads'.
    warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
    for text in figure.findobj(Text):
        text.set_parse_math(False)


def _unit(units: tuple[tuple[float, str], ...], most: float) -> tuple[float, str]:
    return [each for each in units if most >= LEAST_OF_A_UNIT * each[0] or each[0] == 1.0][-1]
