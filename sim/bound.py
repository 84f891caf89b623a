"""The least time in which the work that was done could have been: its "speed of light".

Each resource gives a bound: all its work over its capacity, with nothing ever idle, after the shortest way
to it and before the shortest from it. No schedule beats the largest, so no simulated run may.
"""

from policy import Circuit, Limits
from sim.contention import synthesis_stretch
from sim.durations import JobTimes
from sim.hardware import on_processors
from sim.profile import MachineProfile


class WorkDone:
    """Adds up what completed proofs took of each resource, in seconds alone."""

    __slots__ = (
        "least_synthesize_s",
        "least_verify_s",
        "longest_s",
        "memory_byte_s",
        "prove_s",
        "synthesize_s",
    )

    def __init__(self) -> None:
        self.synthesize_s = self.prove_s = self.memory_byte_s = 0.0
        self.longest_s = 0.0  # of one proof
        self.least_synthesize_s = self.least_verify_s = float("inf")

    def take(self, circuit: Circuit, times: JobTimes) -> None:
        synthesize_s, prove_s, verify_s, working_bytes = times
        all_synthesize_s, all_prove_s = sum(synthesize_s), sum(prove_s)
        self.synthesize_s += all_synthesize_s
        self.prove_s += all_prove_s
        least_verify_s = min(verify_s)
        self.longest_s = max(self.longest_s, max(synthesize_s) + min(prove_s) + least_verify_s)
        self.least_synthesize_s = min(self.least_synthesize_s, min(synthesize_s))
        self.least_verify_s = min(self.least_verify_s, least_verify_s)
        # What is reserved may fall to what is measured, but never below half of what the circuit says.
        least_bytes = circuit.working_bytes
        if working_bytes is not None:
            least_bytes = min(least_bytes, max(working_bytes, least_bytes // 2))
        self.memory_byte_s += least_bytes * all_synthesize_s


def lower_bounds(
    work: WorkDone, limits: Limits, profile: MachineProfile, *, in_budget: bool = True
) -> dict[str, float]:
    """Seconds by resource. `in_budget`: the policy kept to the budget."""
    if work.least_verify_s == float("inf"):
        return {}
    ends_s = work.least_synthesize_s + work.least_verify_s
    bounds = {
        "one proof": work.longest_s,
        "synthesis": work.synthesize_s / synthesis_rate(limits, profile) + work.least_verify_s,
        "devices": _device_s(work, profile) / device_rate(limits, profile) + ends_s,
    }
    cores = profile.cores
    if cores is not None:
        synthesizing = work.synthesize_s * cores.synthesis_cores
        proving = 0.0
        if all(map(on_processors, limits.devices)):
            proving = work.prove_s * cores.proving_cores
        bounds["cores"] = (synthesizing + proving) / cores.count + work.least_verify_s
    if in_budget:
        bounds["memory"] = work.memory_byte_s / limits.budget_bytes
    return bounds


def speed_of_light_s(
    work: WorkDone, limits: Limits, profile: MachineProfile, *, in_budget: bool = True
) -> float:
    """The largest of the bounds; 0 where nothing was completed."""
    return max(lower_bounds(work, limits, profile, in_budget=in_budget).values(), default=0.0)


def synthesis_rate(limits: Limits, profile: MachineProfile) -> float:
    """Seconds alone that are done in a second, at most."""
    stretch = synthesis_stretch(profile.synthesis_slowdown, profile.cores)
    return max(number / stretch(number, 0) for number in range(1, limits.synthesis_slots + 1))


def _device_s(work: WorkDone, profile: MachineProfile) -> float:
    return work.prove_s * (1 - profile.host_before_share - profile.host_after_share)


def device_rate(limits: Limits, profile: MachineProfile) -> float:
    """A GPU does one second in a second; the processors as the cores allow."""
    rate = 0.0
    for device in limits.devices:
        if profile.cores is not None and on_processors(device):
            stretch = profile.cores.proving_stretch
            rate += max(number / stretch(number, 0) for number in range(1, device.workers + 1))
        else:
            rate += 1.0
    return rate
