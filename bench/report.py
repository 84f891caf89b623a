"""A run's report: a page that needs nothing beside it, with memory against the budget and what ran when."""

from __future__ import annotations

from collections.abc import Sequence

from bench.monitor import ProcessSample
from plots import Bar, MemoryPoint, PageTable, PlottedRun, html_page, lines_png
from plots.figure import byte_unit

MOST_POOLS = 8  # lines of a picture; the busiest


def report_page(
    title: str,
    budget_bytes: int | None,
    samples: Sequence[tuple[ProcessSample, int]],
    bars: Sequence[Bar],
    facts: Sequence[str],
    tables: Sequence[PageTable] = (),
) -> str:
    """samples: each with the bytes that were reserved then. bars: stages, seconds since the run's start."""
    memory = tuple(MemoryPoint(each.at_s, reserved, each.rss_bytes) for each, reserved in samples)
    run = PlottedRun(title, budget_bytes, memory, tuple(bars))
    return html_page(run, facts, tables, _pictures([each for each, _ in samples]))


def _pictures(samples: Sequence[ProcessSample]) -> dict[str, bytes]:
    if not samples:
        return {}
    at_s = [each.at_s for each in samples]
    kinds: dict[str, list[int | None]] = {
        "resident": [each.rss_bytes for each in samples],
        "of it files": [each.file_bytes for each in samples],
        "proportional share": [each.pss_bytes for each in samples],
    }
    for place, gpu in enumerate(samples[0].gpus):
        kinds[gpu.name] = [_gpu_bytes(each, place) for each in samples]
    byte, byte_name = byte_unit(max(value or 0 for values in kinds.values() for value in values))
    shares = {
        name: [None if value is None else value / byte for value in values] for name, values in kinds.items()
    }
    pools = sorted(
        {pool for each in samples for pool in each.pools},
        key=lambda pool: -sum(each.pools[pool].cores for each in samples if pool in each.pools),
    )[:MOST_POOLS]
    cores = {pool: [_cores(each, pool) for each in samples] for pool in pools}
    threads = {pool: [_threads(each, pool) for each in samples] for pool in pools}
    return {
        "Memory by kind": lines_png("the process, and GPUs", byte_name, at_s, shares),
        "Processors by pool": lines_png("busy", "processors", at_s, cores),
        "Threads by pool": lines_png("there are", "threads", at_s, threads),
    }


def _gpu_bytes(sample: ProcessSample, place: int) -> int | None:
    if place >= len(sample.gpus):
        return None
    gpu = sample.gpus[place]
    return gpu.used_bytes if gpu.process_bytes is None else gpu.process_bytes


def _cores(sample: ProcessSample, pool: str) -> float:
    return sample.pools[pool].cores if pool in sample.pools else 0.0


def _threads(sample: ProcessSample, pool: str) -> float:
    return sample.pools[pool].threads if pool in sample.pools else 0
