"""Clients that submit, cancel and send nonsense, and a daemon that is killed: the benchmark, but small."""

import asyncio

from benchmarks.daemon.load import load


def test_every_accepted_proof_is_delivered_once_and_valid() -> None:
    found = asyncio.run(load(clients=10, submits=120, kill=True))
    assert sum(found["ends"].values()) == 120  # type: ignore[attr-defined]  # a dict
    assert (found["invalid_proofs"], found["delivered_differently"], found["files_left"]) == (0, 0, 0)
