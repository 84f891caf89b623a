"""What admission by bytes makes of a budget, beside fixed numbers of partitions at once; simulated.

    python -m benchmarks.memory_policy [mix …]

For several mixes of proofs: how long the whole batch takes under the budget, how long under the best fixed
number that never holds more than the budget, and how much of the budget is reserved, as a mean over the time
in which something waits for memory.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from policy import (
    Admit,
    BudgetPolicy,
    Circuit,
    Decision,
    Device,
    Entry,
    Event,
    FixedConcurrency,
    Job,
    Limits,
    PartitionId,
    Policy,
    Priority,
    Submit,
    WaitCause,
)
from sim.clock import Clock
from sim.durations import Durations
from sim.log import RunLog
from sim.machine import SimulatedMachine
from sim.profile import MachineProfile

GIB = 2**30
MOST_AT_ONCE = 40


def circuit(name: str, srs_gib: float, pce_gib: float, full_gib: float, abc_gib: float) -> Circuit:
    entries = (Entry(f"{name} SRS", int(srs_gib * GIB)), Entry(f"{name} PCE", int(pce_gib * GIB)))
    return Circuit(name, entries, int(abc_gib * GIB), int((full_gib - abc_gib) * GIB))


# Filecoin's proofs of 32 GiB sectors: GiB of SRS, PCE, whole working set, and a, b, c of it.
POREP = circuit("PoRep", 44, 25.7, 13.6, 12.5)
SNAP = circuit("SnapDeals", 33, 17, 8.6, 8.0)
WINDOW = circuit("WindowPoSt", 57, 26, 13.2, 12.2)
WINNING = circuit("WinningPoSt", 0.18, 0.4, 0.4, 0.25)
SMALL = [circuit(f"rollup{i}", 1 + i % 3, 0.5, 0.5 + i % 5, (0.5 + i % 5) * 0.8) for i in range(12)]
CONSTRAINTS = {
    POREP.name: 130_278_869,
    SNAP.name: 81_049_499,
    WINDOW.name: 125_000_000,
    WINNING.name: 3_500_000,
    **{each.name: int(each.working_bytes / 100) for each in SMALL},
}
# Times of a 96-core machine with one GPU: 29 s to synthesize 130 million constraints alone, 36.5 s with ten
# at once, 3.5 s of the GPU for each, between 1.3 s and 0.9 s of its own on the CPU.
MACHINE = MachineProfile.model_validate(
    {
        "name": "published",
        "synthesis_slowdown": (36.5 / 29 - 1) / 9,
        "host_before_share": 1.3 / 5.7,
        "host_after_share": 0.9 / 5.7,
        "quotient_share": 0.4,
        "spread": 0.1,
        "load": {"bytes_per_s": 1.0 * GIB},
        "synthesize": {"seconds_per_constraint": 29 / 130_278_869},
        "prove": {"seconds_per_constraint": 5.7 / 130_278_869},
        "verify": {"seconds": 0.1},
    }
)


@dataclass(frozen=True)
class Mix:
    budget_gib: int
    jobs: Sequence[Job]  # all handed in at the start
    workers: int = 2
    slots: int = 24
    lookahead: int = 24  # the budget is the bound

    @property
    def limits(self) -> Limits:
        devices = (Device("gpu0", self.workers),)
        return Limits(self.budget_gib * GIB, self.slots, devices, synthesis_lookahead=self.lookahead)


def jobs(*kinds: tuple[Circuit, int, int], priority: Priority = Priority.NORMAL) -> list[Job]:
    """Of each circuit so many proofs of so many partitions, one after the other."""
    return list(
        _in_turn([[Job(f"{c.name} #{i}", c, n, priority) for i in range(count)] for c, count, n in kinds])
    )


def _in_turn(kinds: list[list[Job]]) -> Iterator[Job]:
    for number in range(max(map(len, kinds))):
        yield from (kind[number] for kind in kinds if number < len(kind))


MIXES = {
    "PoRep, 256 GiB": Mix(256, jobs((POREP, 8, 10))),
    "PoRep, 128 GiB": Mix(128, jobs((POREP, 4, 10))),
    "PoRep, 512 GiB": Mix(512, jobs((POREP, 12, 10))),
    "SnapDeals, 256 GiB": Mix(256, jobs((SNAP, 6, 16))),
    "PoRep and SnapDeals, 384 GiB": Mix(384, jobs((POREP, 6, 10), (SNAP, 4, 16))),
    "all four of Filecoin, 512 GiB": Mix(
        512,
        [
            *jobs((POREP, 5, 10), (SNAP, 3, 16), (WINDOW, 4, 1)),
            *jobs((WINNING, 4, 1), priority=Priority.CRITICAL),
        ],
    ),
    "twelve circuits of rollups, 64 GiB": Mix(64, jobs(*[(each, 12, 1) for each in SMALL])),
    "PoRep and rollups, 192 GiB": Mix(192, jobs((POREP, 4, 10), *[(each, 6, 1) for each in SMALL[:6]])),
}


class Watched:
    """A policy, and after each event how much is reserved and whether somebody waits for memory."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.samples: list[tuple[float, int, bool]] = []
        self._left: dict[str, int] = {}  # partitions that were not admitted, by the job

    def __getattr__(self, name: str) -> Any:
        return getattr(self.policy, name)

    def handle(self, event: Event, now_s: float) -> list[Decision]:
        decisions = self.policy.handle(event, now_s)
        if isinstance(event, Submit):
            self._left[event.job.id] = event.job.partitions
        for decision in decisions:
            if isinstance(decision, Admit):
                self._left[decision.partition.job_id] -= 1
        self._left = {job_id: left for job_id, left in self._left.items() if left}
        self.samples.append((now_s, self.policy.reserved_bytes, any(map(self._lacks_memory, self._left))))
        return decisions

    def _lacks_memory(self, job_id: str) -> bool:
        partitions = [each.index for each in self.policy.partitions() if each.job_id == job_id]
        index = max(partitions, default=-1) + 1
        return self.policy.wait_cause(PartitionId(job_id, index)) is WaitCause.MEMORY

    def mean_reserved_bytes(self) -> tuple[float, float]:
        """While somebody waits for memory, and the seconds of that."""
        spans = zip(self.samples, self.samples[1:], strict=False)
        waits = [(after - at, reserved) for (at, reserved, lacks), (after, _, _) in spans if lacks]
        total_s = sum(span_s for span_s, _ in waits)
        return sum(span_s * reserved for span_s, reserved in waits) / (total_s or 1.0), total_s


def run(policy: Policy, mix: Mix, seed: int = 0) -> float:
    """Seconds until the last proof."""
    env = Clock()
    log = RunLog(policy)
    machine = SimulatedMachine(env, policy, MACHINE, Durations(MACHINE, CONSTRAINTS, seed), [log])
    for job in mix.jobs:
        machine.submit(job)
    env.run()
    assert policy.idle
    return log.entries[-1].at_s


def best_fixed(mix: Mix) -> tuple[int, float]:
    """The number at once with which the batch takes least, of those that stay within the budget, or 0."""
    best = (0, float("inf"))
    for at_once in range(1, MOST_AT_ONCE + 1):
        policy = FixedConcurrency(mix.limits, at_once)
        took_s = run(policy, mix)
        if policy.peak_reserved_bytes > mix.budget_gib * GIB:
            break
        best = min(best, (at_once, took_s), key=lambda each: each[1])
    return best


def main() -> None:
    print(
        f"{'mix':36} {'budget':>8} {'fixed':>8} {'at once':>8} {'ratio':>6}"
        f" {'peak':>6} {'reserved':>9} {'waits':>7}"
    )
    for name in sys.argv[1:] or MIXES:
        mix = MIXES[name]
        watched = Watched(BudgetPolicy(mix.limits))
        took_s = run(watched, mix)
        mean_bytes, waits_s = watched.mean_reserved_bytes()
        at_once, fixed_s = best_fixed(mix)
        budget_bytes = mix.budget_gib * GIB
        fixed = (
            f"{fixed_s:7.0f}s {at_once:8} {took_s / fixed_s:6.2f}"
            if at_once
            else f"{'-':>8} {'none':>8} {'-':>6}"
        )
        print(
            f"{name:36} {took_s:7.0f}s {fixed} {watched.peak_reserved_bytes / budget_bytes:6.1%}"
            f" {mean_bytes / budget_bytes:9.1%} {waits_s:6.0f}s",
            flush=True,
        )


if __name__ == "__main__":
    main()
