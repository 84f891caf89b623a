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


def test_of_many_proofs_the_first_and_last_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    run = Run(source="sim", name="merkle ×500", code_version="1", state="failed")
    proofs = [
        Proof(
            run_id=run.id, name=f"merkle #{i}", circuit="merkle", state="failed", error="full", submitted_s=i
        )
        for i in range(1, 501)
    ]
    detail = RunDetail(run, tuple(ProofDetail(proof, ()) for proof in proofs))
    print_run(detail, 4)
    lines = [line.split("  ")[0].strip() for line in capsys.readouterr().out.splitlines()]
    assert lines[4:9] == ["merkle #1", "merkle #2", "… 496 more …", "merkle #499", "merkle #500"]
    assert lines[-5:] == [
        *(f"merkle #{i}: full" for i in (1, 2)),
        "… 496 more …",
        *(f"merkle #{i}: full" for i in (499, 500)),
    ]
    print_run(detail, None)
    assert capsys.readouterr().out.count("merkle #") == 1000
