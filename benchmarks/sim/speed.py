"""How fast the simulator is: partitions a second of processor time, and a storage provider's month."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from config.model import Config
from policy import Device, Limits
from sim import Batch, bundled_circuits, load_profile, simulate
from sim.hosts import modelled_hosts
from sim.kinds import policy_of
from sim.scenario import Scenario, play
from sim.workload_file import EXAMPLE, read_workload_table, workload_of

PARTITIONS_A_SECOND, MONTH_S = 30_000, 60.0
PROOFS, ROUNDS = 2_000, 15  # a machine that others use as well is fast at moments
MACHINE = "zen4-96-core-rtx5070ti-755gib"
GIB = 2**30


@dataclass(frozen=True)
class Speed:
    """Of a batch: partitions a second, and the share of the time that the policy alone would take."""

    partitions_a_second: float
    policy_share: float
    month_s: float
    month_proofs: int


def measure(report: Callable[[str], None]) -> Speed:
    """The best of some rounds, by processor time of one core."""
    batch_s = min(_processor_s(_batch) for _ in range(ROUNDS))
    policy_s = _policy_s()
    report(f"{PROOFS} proofs of ten partitions: {batch_s:.2f} s, of which the policy alone {policy_s:.2f} s")
    began_s = time.process_time()
    month_proofs = _month()
    month_s = time.process_time() - began_s
    report(f"a month of a storage provider, {month_proofs} proofs: {month_s:.2f} s")
    return Speed(PROOFS * 10 / batch_s, policy_s / batch_s, month_s, month_proofs)


def missed(speed: Speed) -> list[str]:
    """The bars that are not met."""
    found = []
    if speed.partitions_a_second < PARTITIONS_A_SECOND:
        found.append(
            f"{speed.partitions_a_second:,.0f} partitions a second, expected {PARTITIONS_A_SECOND:,}"
        )
    if speed.month_s > MONTH_S:
        found.append(f"the month took {speed.month_s:.0f} s, expected at most {MONTH_S:.0f} s")
    return found


def _processor_s(work: Callable[[], object]) -> float:
    began_s = time.process_time()
    work()
    return time.process_time() - began_s


def _asked() -> tuple[Batch, Limits]:
    """Proofs of ten partitions, five at a time, on one GPU, with memory for two dozen partitions."""
    circuit = bundled_circuits()["porep-32g"]
    batch = Batch(circuit.shape, PROOFS, 5, circuit.partitions, constraints=circuit.constraints)
    return batch, Limits(400 * GIB, 10, (Device("gpu0", 2, 16 * GIB),), 10)


def _batch() -> None:
    batch, limits = _asked()
    simulate(batch, limits, load_profile(MACHINE), with_log=False)


def _policy_s() -> float:
    """The same events once more through a policy, without a machine around it."""
    batch, limits = _asked()
    log = simulate(batch, limits, load_profile(MACHINE)).log
    best_s = float("inf")
    for _ in range(ROUNDS):
        policy = policy_of("budget", limits)
        began_s = time.process_time()
        for entry in log:
            policy.handle(entry.event, entry.at_s)
        best_s = min(best_s, time.process_time() - began_s)
    return best_s


def _month() -> int:
    profile = load_profile(MACHINE)
    workload = workload_of(read_workload_table(EXAMPLE), EXAMPLE.parent)
    played = play(Scenario(workload, modelled_hosts(profile, Config())), seed=0)
    return round(played.answers.figures["proofs"])
