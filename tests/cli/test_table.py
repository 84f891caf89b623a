"""The table's words."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from cli.table import print_parts, print_run, print_runs, table
from db import Proof, ProofDetail, Run, RunDetail, list_runs, open_history, show_run


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


def test_a_table_that_is_wider_than_the_terminal_is_spelled_out(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = table("", "machine", "figure" * 10, right=())
    made.add_row(">", "big", "5 ± 1")
    made.add_row("", "small", "[3]" + "x" * 10)
    monkeypatch.setattr("cli.table.console", lambda: Console(width=60, force_terminal=True, highlight=False))
    print_parts("first", made)
    head = "figure" * 10
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    blanks = " " * (len(head) - len("machine"))
    assert lines == [
        "first", "", " " * len(head) + "  >", f"machine{blanks}  big", f"{head}  5 ± 1",
        "", f"machine{blanks}  small", f"{head}  [3]{'x' * 10}",
    ]  # fmt: skip
    monkeypatch.setattr("cli.table.console", lambda: Console(width=90, force_terminal=True, highlight=False))
    print_parts(made)
    assert any("machine" in line and head in line for line in capsys.readouterr().out.splitlines())


def test_list_and_show_agree_on_seconds_and_on_the_proofs_asked_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with open_history(tmp_path / "h.db") as history:
        with history.writer() as writer:
            run = Run(source="real", name="merkle ×40", code_version="1", proof_count=40)
            writer.insert(run)
            for number, state in enumerate(("succeeded", "running"), 1):
                proof = Proof(
                    run_id=run.id, name=f"p{number}", circuit="c", state=state, submitted_s=0.5,
                    ended_s=3.0 if state == "succeeded" else None,
                )  # fmt: skip
                writer.insert(proof)
        print_run(show_run(history, run.id))
        print_runs(list_runs(history))
    said = capsys.readouterr().out
    assert "running: 1 of 40 proofs in 2.50 s, 2.50 s a proof" in said
    assert "1 of 40      2.50      2.50" in said
