"""The page docs/planning.md against what its commands print: blocks, numbers in the prose, and pictures.

The files of machine, settings and workload are those that the page shows.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "planning.md"
PICTURES = PAGE.parent / "planning"
BASE = ROOT / "sim" / "profiles" / "zen4-96-core-rtx5070ti-755gib.toml"
INDENT = "    "
LEFT_OUT = "…"
DRAWN_IN = {"memory.png": "pictures", "gantt.png": "batch"}  # folders on the page; both commands draw both
TITLE_ROWS = 30  # of pixels; the title has the run's id, another each time
OF_THE_RUN = re.compile(r"^(history  |.*, sim run )")

Report = Callable[[str], None]


@dataclass(frozen=True)
class Block:
    """A command as the page shows it, and the lines below it. `start` and `stop` in the page's lines."""

    command: tuple[str, ...]
    shown: tuple[str, ...]
    start: int
    stop: int

    @property
    def words(self) -> list[str]:
        """Those after `cuzk`."""
        return shlex.split(" ".join(line.rstrip("\\") for line in self.command))[1:]


def blocks_of(page: str) -> list[Block]:
    """Each indented block that begins with a command's "$ "."""
    found, lines = [], page.splitlines()
    for start, line in enumerate(lines):
        if not line.startswith(f"{INDENT}$ cuzk "):
            continue
        stop = start
        while stop < len(lines) and (not lines[stop] or lines[stop].startswith(INDENT)):
            stop += 1
        while not lines[stop - 1]:
            stop -= 1
        body = [each.removeprefix(INDENT) for each in lines[start:stop]]
        end = next(place for place, each in enumerate(body) if not each.endswith("\\")) + 1
        command = (body[0].removeprefix("$ "), *body[1:end])
        found.append(Block(command, tuple(body[end:]), start, stop))
    return found


def write_files(page: str, folder: Path) -> None:
    """our-prover.toml, planning.toml and month.toml, as the page describes them."""
    of_files = re.findall(r"(?:^|\n\n)((?: {4}.*\n|\n(?= {4}))+)", page)
    texts = [re.sub(r"(?m)^ {4}", "", each) for each in of_files]
    machine = next(text for text in texts if 'name = "our-prover"' in text)
    base = BASE.read_text()
    before = [line for line in base[: base.index("[[hosts]]")].splitlines() if not line.startswith("name")]
    after = base[base.index("[prices]") :]
    head, _, hosts_and_prices = machine.partition("\n\n")
    parts = (head, *before, hosts_and_prices, after[after.index("\n[") :])
    (folder / "our-prover.toml").write_text("\n".join(parts))
    (folder / "planning.toml").write_text(next(text for text in texts if text.startswith("[memory]")))
    (folder / "month.toml").write_text(next(text for text in texts if "[[arrivals]]" in text))


def output_of(block: Block, folder: Path) -> list[str]:
    """What the command prints now, without what names the run."""
    cuzk = Path(sys.executable).with_name("cuzk")
    done = subprocess.run(
        [cuzk, *block.words], cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "CUZK_HOME": str(folder / "home"), "CUZK_CONFIG": "", "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{' '.join(block.command)}: {done.stderr.strip()}")
    return [line for line in done.stdout.rstrip().splitlines() if not OF_THE_RUN.match(line)]


def as_shown(printed: Sequence[str], shown: Sequence[str]) -> list[str]:
    """The output without the lines for which the block has "…", up to the line that follows it there."""
    if LEFT_OUT not in shown:
        return list(printed)
    cut = shown.index(LEFT_OUT)
    after = shown[cut + 1 : cut + 2]
    if not after:
        return [*printed[:cut], LEFT_OUT]
    if after[0] not in printed:
        return list(printed)
    return [*printed[:cut], LEFT_OUT, *as_shown(printed[printed.index(after[0]) :], shown[cut + 1 :])]


@dataclass(frozen=True)
class Fact:
    """A number in the prose: where it stands there, and in the output of the command that `command` finds.

    All are regular expressions, the first and the last with a group.
    """

    prose: str
    command: str
    printed: str

    def differs(self, page: str, outputs: dict[str, str]) -> str:
        """What is wrong; "" if nothing."""
        prose = re.search(self.prose, " ".join(page.split()))
        output = next((text for words, text in outputs.items() if re.search(self.command, words)), None)
        if output is None:
            return ""  # it was not asked for
        printed = re.search(self.printed, output)
        if prose is None or printed is None:
            return f"{self.prose!r}: it is not in {'the page' if prose is None else 'the output'}"
        if not same_number(prose[1], printed[1]):
            return f"{prose[0]!r}: the command prints {printed[1]}"
        return ""


def same_number(told: str, printed: str) -> bool:
    """`told` is `printed` rounded to its own digits; what is no number must be the same."""
    try:
        places = len(told.partition(".")[2])
        found = float(printed.replace(",", ""))
        return abs(float(told.replace(",", "")) - found) <= 0.5000001 * 10.0**-places
    except ValueError:
        return told == printed


def same_picture(one: bytes, other: bytes) -> bool:
    """The same pixels below the title."""
    import numpy as np
    from matplotlib.image import imread

    first, second = (imread(BytesIO(each), format="png")[TITLE_ROWS:] for each in (one, other))
    return bool(np.array_equal(first, second))


def check(
    facts: Sequence[Fact], report: Report, folder: Path, wanted: Callable[[Block], bool] = lambda _: True
) -> tuple[list[str], str]:
    """What of the page is not so, and the page with its blocks as they should be.

    The pictures that commands draw are left in `folder`.
    """
    page, missing, outputs = PAGE.read_text(), list[str](), dict[str, str]()
    lines = page.splitlines()
    write_files(page, folder)
    for block in reversed([each for each in blocks_of(page) if wanted(each)]):
        name = " ".join(block.words)
        report(f"cuzk {name}")
        printed = output_of(block, folder)
        outputs[name] = "\n".join(printed)
        new = as_shown(printed, block.shown)
        if new != list(block.shown):
            missing.append(f"line {block.start + 1}: cuzk {name} prints something else")
            body = [f"$ {block.command[0]}", *block.command[1:], *new]
            lines[block.start : block.stop] = [f"{INDENT}{line}" if line else "" for line in body]
    missing += [why for fact in facts if (why := fact.differs(page, outputs))]
    return missing, "\n".join(lines) + "\n"


def pictures_that_differ(folder: Path) -> dict[Path, bytes]:
    """Those of the page that the commands drew otherwise, with what they drew."""
    found = {}
    for path in sorted(PICTURES.glob("*.png")):
        drawn = next(folder.rglob(f"{DRAWN_IN.get(path.name, '.')}/{path.name}"), None)
        if drawn is not None and not same_picture(path.read_bytes(), drawn.read_bytes()):
            found[path] = drawn.read_bytes()
    return found
