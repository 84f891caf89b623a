"""A very large batch, on a modelled machine and for real: the tasks that Prefect sees, and memory."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

from benchmarks.flows.setting import Setting, say, silent
from flows.launch import run_batch
from flows.parameters.batch import batch_parameters
from flows.summary import BatchSummary

SAMPLE_EVERY_S = 0.5


def large(where: Setting, count: int) -> dict[str, object]:
    """Of the smallest circuit, both after a small batch that loads everything."""
    run_batch(batch_parameters(circuit="multiplier", count=20), silent)
    return {
        "proofs": count,
        "simulated": _measured(where, count, mode="simulated", concurrency=20),
        "real": _measured(where, count, concurrency=4),
    }


def _measured(where: Setting, count: int, **others: object) -> dict[str, object]:
    begun_s = time.monotonic()
    with _rss() as samples:
        summary = run_batch(batch_parameters(circuit="multiplier", count=count, **others), _word)
    seconds = time.monotonic() - begun_s
    quarter = len(samples) // 4
    return {
        "headline": summary.headline,
        "seconds": round(seconds, 1),
        "tasks": where.count_tasks(_flow_run_id(summary)),
        "rss_mb_before": samples[0] >> 20,
        "rss_mb_by_quarter": [max(samples[n * quarter : (n + 1) * quarter + 1]) >> 20 for n in range(4)],
        "bytes_a_proof_kept": (_rss_bytes() - samples[0]) // count,
    }


def _word(line: str) -> None:
    if " s: " in line:  # how far it is
        say(line)


def _flow_run_id(summary: BatchSummary) -> str:
    return str(summary.flow_run_url).rsplit("/", 1)[1]


@contextmanager
def _rss() -> Iterator[list[int]]:
    """The process's memory, sampled inside the block."""
    done, samples = threading.Event(), [_rss_bytes()]

    def sample() -> None:
        process = psutil.Process()
        while not done.wait(SAMPLE_EVERY_S):
            samples.append(int(process.memory_info().rss))

    sampler = threading.Thread(target=sample, daemon=True)
    sampler.start()
    try:
        yield samples
    finally:
        done.set()
        sampler.join()


def _rss_bytes() -> int:
    gc.collect()
    return int(psutil.Process().memory_info().rss)
