"""Many whole numbers as a short text, for a flow's parameters, which may take 512 KB: "0-998:2, 1001"."""

import re
from collections.abc import Sequence

from config import ConfigError

_RUN = re.compile(r"([0-9]+)(?:-([0-9]+)(?::([1-9][0-9]*))?)?")
MOST_NUMBERS = 10_000_000


def as_text(numbers: Sequence[int]) -> str:
    """Of ascending numbers. As many as possible that are equally far apart make one run."""
    runs, at = list[str](), 0
    while at < len(numbers):
        end = at + 1
        step = numbers[end] - numbers[at] if end < len(numbers) else 1
        while end < len(numbers) and numbers[end] - numbers[end - 1] == step:
            end += 1
        if end - at == 2 and step > 1:
            end = at + 1  # two numbers make no run
        runs.append(_run(numbers[at], numbers[end - 1], step))
        at = end
    return ", ".join(runs)


def _run(first: int, last: int, step: int) -> str:
    if first == last:
        return str(first)
    return f"{first}-{last}" if step == 1 else f"{first}-{last}:{step}"


def from_text(text: str) -> list[int]:
    """The numbers, ascending. Raises ConfigError for anything else."""
    found = list[int]()
    for part in filter(None, map(str.strip, text.split(","))):
        run = _RUN.fullmatch(part)
        if run is None:
            raise ConfigError(f'found {part!r}, expected numbers such as "3", "0-99" or "0-98:2"')
        first = int(run[1])
        numbers = range(first, int(run[2] or first) + 1, int(run[3] or 1))
        if not numbers or (found and numbers[0] <= found[-1]) or len(found) + len(numbers) > MOST_NUMBERS:
            raise ConfigError(f"found {part!r} in {text[:60]!r}, expected ascending numbers")
        found += numbers
    return found
