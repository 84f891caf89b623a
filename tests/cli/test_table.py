"""The table's words."""

from __future__ import annotations

import pytest

from cli.table import print_run
from db import Proof, ProofDetail, Run, RunDetail


@pytest.mark.parametrize("error", ["the disk is full", "merkle #1: the disk is full"])
def test_a_failed_proof_is_named_once(capsys: pytest.CaptureFixture[str], error: str) -> None:
    run = Run(source="real", name="merkle ×1", code_version="1", state="failed")
    proof = Proof(
        run_id=run.id, name="merkle #1", circuit="merkle", state="failed", error=error, submitted_s=0.0
    )
    print_run(RunDetail(run, (ProofDetail(proof, ()),)))
    assert capsys.readouterr().out.splitlines()[-1] == "merkle #1: the disk is full"
