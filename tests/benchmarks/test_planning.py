"""The page docs/planning.md: what it shows is what its commands print."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.sim.planning import (
    PAGE,
    PICTURES,
    Fact,
    as_shown,
    blocks_of,
    check,
    same_number,
    same_picture,
    write_files,
)
from benchmarks.sim.planning_facts import FACTS
from sim.workload_file import EXAMPLE

TEXT = """Before

    $ cuzk sim run -t x \\
          --set "a=b c"
    first

    last

After, 12 % of them.

    $ cuzk sim sweep
"""


def test_blocks_are_found_with_their_command_and_their_lines() -> None:
    first, second = blocks_of(TEXT)
    assert first.words == ["sim", "run", "-t", "x", "--set", "a=b c"]
    assert (first.shown, first.start, first.stop) == (("first", "", "last"), 2, 7)
    assert (second.words, second.shown) == (["sim", "sweep"], ())


def test_lines_may_be_left_out() -> None:
    printed = ["1", "2", "3", "4", "5"]
    assert as_shown(printed, ["old"]) == printed
    assert as_shown(printed, ["x", "…", "4", "x"]) == ["1", "…", "4", "5"]
    assert as_shown(printed, ["x", "…"]) == ["1", "…"]
    assert as_shown(printed, ["x", "…", "gone"]) == printed


def test_numbers_in_prose_are_rounded_and_no_other() -> None:
    assert same_number("33", "32.8")
    assert same_number("1,467", "1467")
    assert not same_number("33", "32.4")
    assert not same_number("32.9", "32.8")
    assert same_number("stable", "stable")
    outputs = {"sim run -t x": "devices  12.4 %"}
    fact = Fact(r"After, (\d+) %", "run -t", r"devices +([\d.]+)")
    assert fact.differs(TEXT, outputs) == ""
    assert "prints 13.4" in fact.differs(TEXT, {"sim run -t x": "devices  13.4 %"})
    assert "not in the page" in fact.differs("", outputs)
    assert "not in the output" in fact.differs(TEXT, {"sim run -t x": ""})
    assert fact.differs(TEXT, {}) == ""


def test_every_number_that_is_compared_is_in_the_page() -> None:
    page, words = (
        " ".join(PAGE.read_text().split()),
        [" ".join(each.words) for each in blocks_of(PAGE.read_text())],
    )
    for fact in FACTS:
        assert re.search(fact.prose, page), fact.prose
        assert any(re.search(fact.command, each) for each in words), fact.command


def test_the_page_shows_the_bundled_workload(tmp_path: Path) -> None:
    write_files(PAGE.read_text(), tmp_path)
    assert (tmp_path / "month.toml").read_text().split() == EXAMPLE.read_text().split()


def test_a_picture_is_compared_below_its_title() -> None:
    one, other = (PICTURES / name for name in ("gantt.png", "sweep.png"))
    assert same_picture(one.read_bytes(), one.read_bytes())
    assert not same_picture(one.read_bytes(), other.read_bytes())


def test_the_page_shows_what_is_printed_for_its_batches(tmp_path: Path) -> None:
    """Its months take a minute of processor time: `python -m benchmarks.sim planning` compares all."""
    said = list[str]()
    missing, page = check(FACTS, said.append, tmp_path, lambda block: "-t" in block.words)
    assert len(said) >= 3
    assert missing == []
    assert page == PAGE.read_text()
