"""What the policy may hand out on this machine: bytes, synthesis slots and devices, from the settings."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from config import format_size
from engine import cgroup
from engine.errors import EngineError
from engine.gpus import proving_devices
from engine.ledger import others_resident_bytes
from policy import Device, Limits

if TYPE_CHECKING:
    from config import Config


@dataclass(frozen=True)
class Memory:
    """The memory that this process may use; `source` says what sets `total_bytes`."""

    total_bytes: int
    available_bytes: int
    source: str

    def describe(self) -> str:
        """For the end of a refusal."""
        return (
            f"{format_size(self.available_bytes)} of {self.source}'s {format_size(self.total_bytes)} is free"
        )


def memory(proc: Path = cgroup.PROC) -> Memory:
    """The smallest of the machine's memory and the limits of the process's control groups.

    Available is what could be taken now without swapping: page cache that the system can drop counts.
    """
    machine = psutil.virtual_memory()
    total_bytes, available_bytes, source = machine.total, machine.available, "the machine"
    for limit in cgroup.limits(proc):
        if limit.limit_bytes < total_bytes:
            total_bytes, source = limit.limit_bytes, f"the control group {limit.path}"
        available_bytes = min(available_bytes, limit.available_bytes)
    return Memory(total_bytes, available_bytes, source)


def budget_bytes(config: Config, found: Memory) -> int:
    """The budget that `[memory]` asks for; EngineError where the memory is not there.

    "auto" is what is available less the safety margin, which covers the interpreter, compiled kernels and
    whatever else runs on the machine. What processes that share the budget have taken of it counts as there.
    """
    asked, margin_bytes = config.memory.total_budget, config.memory.safety_margin
    if isinstance(asked, int):
        if asked > found.available_bytes:
            raise EngineError(
                f"memory.total_budget is {format_size(asked)}, but {found.describe()}; "
                "ask for less, or free memory"
            )
        return asked
    if found.available_bytes <= margin_bytes:
        raise EngineError(
            f'memory.total_budget is "auto" and the safety margin {format_size(margin_bytes)}, but '
            f"{found.describe()}; set memory.total_budget or a smaller memory.safety_margin"
        )
    return found.available_bytes - margin_bytes


def policy_limits(config: Config, found: Memory | None = None) -> Limits:
    """The policy's limits under these settings; EngineError for memory or devices that are not there.

    found: the memory, where it is not this machine's as it is now.
    """
    _check_cores("synthesis.cores", config.synthesis.cores)
    _check_cores("gpus.cores", config.gpus.cores)
    pipeline, scheduler = config.pipeline, config.scheduler
    slots = threads(pipeline.synthesis_concurrency) if pipeline.enabled else 1
    lookahead = slots if pipeline.synthesis_lookahead == "auto" else pipeline.synthesis_lookahead
    lookahead_bytes = pipeline.synthesis_lookahead_bytes
    return Limits(
        budget_bytes=budget_bytes(config, found or _memory_with_shared(config)),
        synthesis_slots=slots,
        devices=proving_devices(config),
        synthesis_lookahead=lookahead if pipeline.enabled else 0,
        eviction_min_idle_s=config.memory.eviction_min_idle,
        lookahead_bytes=None if lookahead_bytes == "auto" else lookahead_bytes,
        sort_by_type=scheduler.sort_by_type,
        max_batch_size=scheduler.max_batch_size,
        max_batch_wait_s=scheduler.max_batch_wait_ms / 1000,
    )


def modelled_limits(config: Config) -> Limits:
    """The same for a machine in question: a budget in bytes is all its memory, whatever this one has."""
    budget = config.memory.total_budget
    return policy_limits(
        config, Memory(budget, budget, "the modelled machine") if isinstance(budget, int) else None
    )


def _check_cores(key: str, cores: Sequence[int]) -> None:
    if not cores:
        return
    if not hasattr(os, "sched_getaffinity"):
        raise EngineError(f"{key}: this system cannot keep threads to cores; leave it out")
    usable = os.sched_getaffinity(0)
    if missing := sorted(set(cores) - usable):
        raise EngineError(
            f"{key} names core {missing[0]}, expected some of those this process may use: "
            f"{', '.join(map(str, sorted(usable)))}"
        )


def _memory_with_shared(config: Config) -> Memory:
    """This machine's memory, with what other processes hold of the budget that they share with this one."""
    found = memory()
    if config.memory.ledger == "off":
        return found
    shared_bytes = others_resident_bytes(Path(config.memory.ledger))
    return replace(found, available_bytes=min(found.total_bytes, found.available_bytes + shared_bytes))


def synthesis_threads(config: Config, devices: Sequence[Device]) -> int:
    """The threads of synthesis: by default every processor, but half of them where they make the proofs, too.

    `python -m benchmarks.memory pools` compares choices; proving always has all of them by default.
    """
    if asked := config.synthesis.threads or len(config.synthesis.cores):
        return asked
    prove_as_well = any(device.memory_bytes is None for device in devices)
    return max(1, threads(0) // 2) if prove_as_well else threads(0)


def proving_threads(config: Config) -> int:
    """The threads of proving."""
    return threads(config.gpus.gpu_threads or len(config.gpus.cores))


def threads(configured: int) -> int:
    """A configured number of threads, where 0 means every processor this process may run on."""
    if configured:
        return configured
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
