"""What a profile that is learned from one recorded batch says of five others on the same machine.

The recorded runs are of two and of four cores: three rounds of the batches, the first of them twice in each.
"""

import gzip
import warnings
from pathlib import Path

import pytest

from benchmarks.sim.accuracy import errors_of_others, learn, recorded_batches, summary
from db import open_history, read_lines, write_rows

DATA = Path(__file__).parent / "data"
WARN, FAIL = 0.05, 0.10


@pytest.mark.parametrize("name", ["two", "four"])
def test_predictions_of_recorded_batches_are_near_what_was_measured(name: str, tmp_path: Path) -> None:
    lines = tmp_path / "runs.jsonl"
    lines.write_bytes(gzip.decompress((DATA / f"batches_on_{name}_cores.jsonl.gz").read_bytes()))
    with open_history(tmp_path / "history.db") as history:
        assert write_rows(history, read_lines(lines)).new == 21
        batches = recorded_batches(history)
    errors = errors_of_others(batches, learn(batches))
    assert len(errors) == 2 * 5
    for figure, share in summary(errors).items():
        if figure.endswith("median"):
            assert share <= FAIL, f"{figure} is {share:.1%}: {errors}"
            if share > WARN:
                warnings.warn(f"{figure} is {share:.1%}, expected at most {WARN:.0%}", stacklevel=1)
