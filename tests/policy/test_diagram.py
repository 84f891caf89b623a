"""The docs show the states as they are."""

from pathlib import Path

from policy import TRANSITIONS
from policy.diagram import mermaid, page

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_of_states_is_that_of_the_table() -> None:
    written = (DOCS / "states.md").read_text(encoding="utf-8")
    assert written == page(), "python -m policy.diagram > docs/states.md"


def test_every_transition_is_an_arrow() -> None:
    arrows = [line.split(": ")[1].split(", ") for line in mermaid().splitlines() if ": " in line]
    assert sum(map(len, arrows)) == sum(map(len, TRANSITIONS.values()))
