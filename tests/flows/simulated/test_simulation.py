"""A simulated batch says what it does, from its start on."""

from pathlib import Path

import pytest

from engine import words
from flows.parameters.batch import BatchParameters
from flows.simulated import simulation as simulated_batch
from flows.simulated.simulation import SimulationParameters, simulate_batch


def test_it_is_never_silent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUZK_HOME", str(tmp_path))
    monkeypatch.setattr(simulated_batch, "telling", lambda say, word: words.telling(say, word, every_s=0.001))
    said = list[str]()
    simulate_batch(BatchParameters(circuit="multiplier", count=500), SimulationParameters(), said.append)
    begun = said.index("simulating multiplier ×500 under the policy budget")
    assert any(
        line.startswith("simulating, ") and " of 500 proofs done at " in line for line in said[begun + 1 :]
    )
    assert any(line.startswith("recording the run, ") and " rows written" in line for line in said)
