"""Pictures of a run from plain rows: memory against the budget, stages by resource, and a page with both.

PNG files are the same bytes from the same rows. matplotlib is imported when the first picture is drawn.
"""

from plots.gantt import gantt_png
from plots.lines import lines_png
from plots.memory import memory_png
from plots.page import PageTable, html_page, run_pictures
from plots.points import Point, Series, points_png
from plots.rows import Bar, MemoryPoint, PlottedRun, plotted_run
from plots.trace import chrome_trace

__all__ = [
    "Bar",
    "MemoryPoint",
    "PageTable",
    "PlottedRun",
    "Point",
    "Series",
    "chrome_trace",
    "gantt_png",
    "html_page",
    "lines_png",
    "memory_png",
    "plotted_run",
    "points_png",
    "run_pictures",
]
