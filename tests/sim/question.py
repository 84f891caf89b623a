"""A question about a small machine whose times are round numbers."""

from pathlib import Path
from typing import Any

from config import Config
from sim.question import Question
from sim.workload_file import WorkloadTable
from tests.sim.model import profile

KIB = 1024
CIRCUITS = {
    "small": {"constraints": 1, "srs": 80 * KIB, "pce": 20 * KIB, "working_set": 20 * KIB, "phase1": 10 * KIB}
}
HOST = {
    "name": "box",
    "cores": 8,
    "memory": "5243080KiB",  # 200 KiB more than the margin
    "gpus": 1,
    "disk_bandwidth": "1MB/s",
    "memory_bandwidth": "1GB/s",
    "workers": 8,
}
PRICES = {"host": 100.0, "gpu": 50.0, "memory_gib": 10.0}


def closed(**changes: Any) -> dict[str, Any]:
    batch = {"circuit": "small", "count": 20, "concurrency": 10}
    return {"kind": "closed", "batches": [batch | changes], "circuits": CIRCUITS}


def opened(duration: float, **changes: Any) -> dict[str, Any]:
    arrivals = {"circuit": "small", **changes}
    return {"kind": "open", "duration": duration, "arrivals": [arrivals], "circuits": CIRCUITS}


def question(workload: dict[str, Any], hosts: list[dict[str, Any]] | None = None, **others: Any) -> Question:
    """On one host on which a proof takes 1 s to load, 1 s to synthesize, 4 s to prove and 0.5 s to verify."""
    policy = others.pop("policy", "budget")
    times = {"load": {"bytes_per_s": 100.0 * KIB}, "spread": 0.1, "prices": PRICES, **others}
    machine = profile(hosts=[HOST] if hosts is None else hosts, **times)
    return Question(WorkloadTable.model_validate(workload), Path(), machine, Config(), policy)
