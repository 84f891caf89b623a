"""What tasks are told of a simulated run."""

import asyncio
from typing import Any

import pytest

from db import Partition, PartitionDetail, Proof, ProofDetail, Run, RunDetail, Span, StageSeconds
from engine import ProofFailed
from flows.simulated.proofs import SimulatedProofs

SENTENCE = "waits for memory: 2GiB are not free"


@pytest.fixture
def proofs() -> SimulatedProofs:
    run = Run(source="sim", name="merkle ×1", code_version="1")
    proof = Proof(
        id="a1", run_id=run.id, name="merkle #1", circuit="merkle", partition_count=2, submitted_s=1.0
    )
    parts = [
        Partition(proof_id="a1", index=index, wait_cause=cause) for index, cause in ((0, None), (1, SENTENCE))
    ]
    details = tuple(PartitionDetail(part, StageSeconds()) for part in parts)
    spans = [
        span("[1/2]", "wait", 1.0, 1.0),
        span("[1/2]", "load", 1.0, 3.0),
        span("[1/2]", "prove", 3.0, 7.5),
        span("[2/2]", "wait", 1.0, 13.0),
        span("[2/2]", "load", 13.0, 13.0),
        span("[2/2]", "prove", 13.0, None),
    ]
    return SimulatedProofs(RunDetail(run, (ProofDetail(proof, details),)), spans)


def span(part: str, stage: Any, started_s: float, ended_s: float | None) -> Span:
    return Span(f"merkle #1 {part}", stage, started_s, ended_s, None, "merkle", None)


def test_a_stage_is_as_long_as_it_was_simulated(proofs: SimulatedProofs) -> None:
    summary = asyncio.run(proofs.wait_finished("a1", "prove", 0))
    assert (summary.seconds, summary.detail) == (4.5, "simulated, from 3.00 s to 7.50 s")


def test_a_wait_is_told_with_its_cause(proofs: SimulatedProofs) -> None:
    assert proofs.has_started("a1", "load", 0)
    assert not proofs.has_started("a1", "load", 1)
    assert proofs.waited_s("a1", 1) == 12.0
    assert proofs.explain("a1", 1).endswith(SENTENCE)


def test_a_load_of_what_was_there_is_not_shown(proofs: SimulatedProofs) -> None:
    assert not proofs.has_finished("a1", "load", 0)
    assert proofs.has_finished("a1", "load", 1)


def test_a_stage_that_never_ended_fails(proofs: SimulatedProofs) -> None:
    with pytest.raises(ProofFailed, match="prove was never finished"):
        asyncio.run(proofs.wait_finished("a1", "prove", 1))
