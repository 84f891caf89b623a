"""Simulated batches, written as every run is."""

from __future__ import annotations

from db import History
from policy import Circuit, Device, Entry, Limits
from sim import Batch, load_profile, record, simulate

GIB = 2**30
CIRCUIT = Circuit("porep-32g", (Entry("srs", 44 * GIB), Entry("pce", 26 * GIB)), 12 * GIB, 2 * GIB)
LIMITS = Limits(400 * GIB, 16, (Device("cuda:0", 2), Device("cuda:1", 2)), synthesis_lookahead=4)


def record_simulated(history: History, proofs: int) -> str:
    """Simulate and record a batch, pack it, and return its id."""
    run = simulate(Batch(CIRCUIT, proofs, 32, constraints=1 << 27), LIMITS, load_profile(None), seed=1)
    with history.writer() as writer:
        run_id = record(run, writer, name=f"porep-32g ×{proofs}", code_version="1.0.0")
        if lost := writer.close():
            raise lost
    history.pack()
    return run_id
