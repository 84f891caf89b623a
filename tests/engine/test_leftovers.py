"""The next run removes what killed ones left, says so once, and touches nothing of a run that goes on."""

import logging
from datetime import UTC, datetime
from pathlib import Path

import pytest

from config import Config, SrsConfig
from db import Proof, Run, open_history
from db.hiding import Kind
from db.models import State
from db.process import host_name
from engine.leftovers import clean_up
from engine.outputs import Outputs, proof_folder
from groth16.temporary import create
from tests.engine.test_outputs import some_proof


@pytest.fixture(params=[False, True], ids=["paths", "digests"])
def hide(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Kind, ...]:
    """What is hidden in the history."""
    monkeypatch.setenv("CUZK_HOME", str(tmp_path))
    return ("paths", "hosts") if request.param else ()


def half_written(output: Path, proof: Proof) -> None:
    """One partition of two is there, under temporary names."""
    outputs = Outputs(proof_folder(output, proof.name), 2, proof.id)
    outputs.prepare()
    outputs.write(0, some_proof(), [1])


def test_leftovers_of_killed_runs_are_removed_and_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, hide: tuple[Kind, ...]
) -> None:
    params, output = tmp_path / "params", tmp_path / "proofs"
    (params / "derived").mkdir(parents=True)
    for name in (".key.zkey.12.tmp", "derived/.x.matrices-2.34.tmp"):
        (params / name).touch()
    config = Config(srs=SrsConfig(param_cache=params))
    with open_history(tmp_path / "history.db", hide=hide) as history, history.writer() as writer:
        states: list[tuple[str, State]] = [("killed", "interrupted"), ("living", "running")]
        for run_id, state in states:
            run = Run(
                id=run_id,
                source="real",
                name="batch",
                code_version="1",
                output_path=str(output / run_id),
                host=host_name(),
                state="interrupted" if state == "interrupted" else "running",
                ended_at=datetime.now(UTC) if state == "interrupted" else None,
            )
            proof = Proof(run_id=run_id, name="merkle #3", circuit="merkle", state=state, submitted_s=0.0)
            writer.insert(run, proof)
            half_written(output / run_id, proof)
            unrecorded = Proof(run_id=run_id, name="merkle #4", circuit="merkle", submitted_s=1.0)
            half_written(output / run_id, unrecorded)
        writer.flush()
        with create(params / "another.zkey"), caplog.at_level(logging.INFO):
            clean_up(config, history)
            clean_up(config, history)
            assert len(list(params.glob(".*"))) == 1
    (record,) = caplog.records
    assert record.message.startswith("removed 6 temporary files that killed runs had left, such as ")
    assert list((output / "killed" / "merkle-3").iterdir()) == []
    assert list((output / "killed" / "merkle-4").iterdir()) == []
    assert len(list((output / "living" / "merkle-3").iterdir())) == 2
    assert len(list((output / "living" / "merkle-4").iterdir())) == 2
    assert list((params / "derived").iterdir()) == []
