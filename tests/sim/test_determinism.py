"""One seed, one run: byte for byte, in any process and under any hash seed."""

import os
import subprocess
import sys
from pathlib import Path

from sim import simulate
from tests.sim.model import batch, limits, profile

SCRIPT = """
import json
from policy.codec import encode_decision, encode_event
from sim import simulate
from tests.sim.model import batch, limits, profile

run = simulate(batch(8, 3, partitions=2), limits(3), profile(spread=0.3, synthesis_slowdown=0.4), seed=7)
for entry in run.log:
    decisions = [encode_decision(decision) for decision in entry.decisions]
    print(json.dumps([entry.at_s, encode_event(entry.event), decisions, entry.reserved_bytes]))
print(run.wait_causes)
cores = {"count": 2, "synthesis_threads": 1, "proving_threads": 2, "proving_cores": 2.0}
run = simulate(batch(8, 3, partitions=2), limits(3), profile(spread=0.3, cores=cores), seed=7)
print([entry.at_s for entry in run.log], run.end_s)
"""


def output(hash_seed: str) -> bytes:
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(root)}
    run = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, check=True)
    return run.stdout


def test_the_same_bytes_in_every_process() -> None:
    first = output("0")
    assert first.count(b"\n") > 60
    assert first == output("1") == output("random")


def test_another_seed_is_another_run() -> None:
    varied = profile(spread=0.3)
    runs = [simulate(batch(4, 2), limits(2), varied, seed=seed).log for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


def test_a_change_of_policy_leaves_the_drawn_times_alone() -> None:
    """Under each policy a partition's synthesis, alone, takes as long."""
    varied = profile(spread=0.3)
    ends = []
    for policy in ("budget", "fixed:1"):
        run = simulate(batch(5, 1), limits(1), varied, policy=policy)
        ends.append(run.end_s)
    assert ends[0] == ends[1]
