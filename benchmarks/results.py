"""What was measured, as dataclasses and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Self

FORMAT = 1


@dataclass
class Runs:
    """A contestant's runs of one task, warm-ups left out."""

    wall_s: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def median_s(self) -> float:
        return median(self.wall_s)

    @property
    def median_cpu_s(self) -> float:
        """Of all threads together."""
        return median(self.cpu_s)

    @property
    def spread(self) -> float:
        """Half the distance from fastest to slowest, as a part of the median."""
        return (max(self.wall_s) - min(self.wall_s)) / 2 / self.median_s


@dataclass
class Measurement:
    """One task at one size, by everybody who can do it.

    task: "msm g1", "proof dense", …; size: points, constraints, or what else there are many of; products: the
    field products that it takes, by the field's name; failed: why a contestant has no runs.
    """

    task: str
    curve: str
    size: int
    threads: int
    runs: dict[str, Runs] = field(default_factory=dict)
    products: dict[str, float] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)


@dataclass
class Result:
    """One run of the benchmarks."""

    machine: dict[str, Any]
    versions: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    measurements: list[Measurement] = field(default_factory=list)

    def find(self, task: str, curve: str, size: int) -> Measurement | None:
        wanted = (task, curve, size)
        return next((m for m in self.measurements if (m.task, m.curve, m.size) == wanted), None)

    def write(self, path: Path) -> None:
        path.write_text(json.dumps({"format": FORMAT, **asdict(self)}, indent=1) + "\n")

    @classmethod
    def read(cls, path: Path) -> Self:
        """Raises ValueError, in one line, for a file that is no result."""
        try:
            data = json.loads(path.read_text())
            if data.pop("format") != FORMAT:
                raise ValueError("another format")
            rows = [_measurement(row) for row in data.pop("measurements")]
            return cls(**data, measurements=rows)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"{path}: is no result of `python -m benchmarks` ({error}): give the .json it wrote"
            ) from error


def merged(results: Iterable[Result]) -> list[Result]:
    """Those of one commit on the same cores of one machine as one."""
    by_machine: dict[tuple[Any, ...], Result] = {}
    for result in results:
        key = tuple(result.machine.get(name) for name in ("processor", "cores_used", "commit"))
        whole = by_machine.setdefault(key, Result(result.machine))
        whole.versions.update(result.versions)
        whole.missing.update(result.missing)
        whole.measurements.extend(result.measurements)
    return list(by_machine.values())


def _measurement(row: dict[str, Any]) -> Measurement:
    runs = {name: Runs(**each) for name, each in row.pop("runs").items()}
    return Measurement(**row, runs=runs)
