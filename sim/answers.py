"""What a simulated run says of a machine, as figures by name, units in the names."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from policy import WaitCause
from sim.cluster import Ticket
from sim.hardware import device_kind
from sim.host import SimulatedHost
from sim.intervals import percentile
from sim.meter import CORES, LOADS, NOTHING, Meter
from sim.verdict import OUT_OF_MEMORY, Load, Verdict
from sim.workload import Loop, Request

Figures = dict[str, float]
PERCENTILES = (("p50", 0.50), ("p90", 0.90), ("p99", 0.99))
SLOTS = "synthesis slots"
AWAY = "host away"
"""Its process has ended, by a fault, and proofs wait until there is another."""
RESOURCES = (
    "memory", CORES, SLOTS, "devices", "device memory", LOADS, "batching", "fixed concurrency", AWAY, NOTHING
)  # fmt: skip
LATENCY = "latency_"


@dataclass(frozen=True)
class Answers:
    """Of one seed. `load` is None for a closed loop, which cannot be overloaded.

    Figures of a circuit or resource have its name in brackets, such as latency_p99_s[porep-32g].
    `run_ids`: where the history has it, which is another place each time; the first is of `first_host`.
    """

    loop: Loop
    seed: int
    load: Load | None
    over_budget: bool
    figures: Figures
    run_ids: tuple[str, ...] = field(default=(), compare=False)
    first_host: str = field(default="", compare=False)

    @property
    def verdict(self) -> Verdict:
        """The worst that can be said."""
        if self.over_budget:
            return OUT_OF_MEMORY
        return "fails" if self.figures["proofs_failed"] else self.load or "completes"


@dataclass
class Outcomes:
    """How the proofs of each circuit ended, and which have not."""

    waiting: dict[str, Request] = field(default_factory=dict)  # those with a deadline, by name
    latencies_s: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    due: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    missed: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    failed: int = 0
    done_in_time: int = 0  # while proofs arrived
    first_s: float | None = None  # when the first arrived
    last_s: float = 0.0  # when the last ended

    def wait_for(self, request: Request, at_s: float) -> None:
        """It has arrived."""
        if self.first_s is None:
            self.first_s = at_s
        if request.due_s is not None:
            self.waiting[request.name] = request

    def close(self, at_s: float) -> None:
        """Nothing more will end. What was due until now, and is not done, is missed as well."""
        for request in self.waiting.values():
            if request.due_s is not None and request.due_s <= at_s:
                self.due[request.circuit.name] += 1
                self.missed[request.circuit.name] += 1
        self.waiting.clear()

    def take(self, ticket: Ticket, succeeded: bool, at_s: float, arrivals_end_s: float) -> None:
        request = ticket.request
        name = request.circuit.name
        self.last_s = at_s
        self.waiting.pop(request.name, None)
        if request.due_s is not None:
            self.due[name] += 1
            self.missed[name] += not succeeded or at_s > request.due_s
        if succeeded:
            self.latencies_s[name].append(at_s - ticket.arrived_s)
            self.done_in_time += at_s <= arrivals_end_s
        else:
            self.failed += 1

    @property
    def succeeded(self) -> int:
        """Proofs of all circuits."""
        return sum(map(len, self.latencies_s.values()))

    @property
    def alone_s(self) -> float:
        """About what the slowest circuit takes when nothing else is there."""
        return max((min(each) for each in self.latencies_s.values() if each), default=0.0)


def latency_figures(outcomes: Outcomes) -> Figures:
    """From arrival to the last partition's check, by circuit, of the proofs that succeeded."""
    figures = {}
    for name, latencies_s in sorted(outcomes.latencies_s.items()):
        ordered = sorted(latencies_s)
        for label, share in PERCENTILES:
            figures[f"{LATENCY}{label}_s[{name}]"] = percentile(ordered, share)
    return figures


def deadline_figures(outcomes: Outcomes) -> Figures:
    """How many were due at a time, done or not, and what share of them was late or failed, by circuit."""
    figures: Figures = {}
    for name, count in sorted(outcomes.due.items()):
        figures[f"deadlines_due[{name}]"] = count
        figures[f"deadlines_missed[{name}]"] = outcomes.missed[name]
        figures[f"deadlines_missed_share[{name}]"] = outcomes.missed[name] / count
    return figures


def resource_figures(hosts: Sequence[SimulatedHost], away_s: float) -> Figures:
    """What bound the hosts, how much they held and did, and what partitions waited for.

    `away_s`: see `sim.cluster`.
    """
    lives = [life for host in hosts for life in host.ended]
    meters = [life.meter for life in lives]
    binding_s, waits_s = _sums(hosts)
    up_s = sum(binding_s.values()) or 1.0
    device_s = sum(
        sum(life.meter.binding_s.values()) * _devices(host) for host in hosts for life in host.ended
    )
    budget_bytes = max(host.modelled.limits.budget_bytes for host in hosts)
    figures = {
        "peak_reserved_bytes": float(max(life.peak_reserved_bytes for life in lives)),
        "peak_resident_bytes": max(life.peak_resident_bytes for life in lives),
        "hosts": float(len(hosts)),
        "budget_bytes": float(budget_bytes),
        **_too_much(hosts),
        "speed_of_light_s": max(sum(life.least_s for life in host.ended) for host in hosts),
        "device_use_share": sum(life.devices_busy_s for life in lives) / (device_s or 1.0),
        "loads": float(sum(meter.loads for meter in meters)),
        "reloads": float(sum(meter.reloads for meter in meters)),
        "evictions": float(sum(meter.evictions for meter in meters)),
        "unbegun_share": sum(meter.unbegun_s for meter in meters) / up_s,
    }
    figures |= _slot_waits(meters)
    binding_s[AWAY] = away_s
    all_s = sum(binding_s.values()) or 1.0
    figures |= {f"binding_share[{name}]": binding_s.get(name, 0.0) / all_s for name in RESOURCES}
    return figures | {f"waited_s[{cause.value}]": waits_s.get(cause.value, 0.0) for cause in WaitCause}


def _slot_waits(meters: Sequence[Meter]) -> Figures:
    """Of all that partitions of a circuit waited, the share for a synthesis slot."""
    waits_s: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for meter in meters:
        for circuit, causes in meter.circuit_waits_s.items():
            waits_s[circuit][0] += causes.get(WaitCause.SYNTHESIS_SLOT.value, 0.0)
            waits_s[circuit][1] += sum(causes.values())
    return {f"slot_wait_share[{name}]": slots / all_s for name, (slots, all_s) in waits_s.items() if all_s}


def _too_much(hosts: Sequence[SimulatedHost]) -> Figures:
    """By how much the most is reserved beyond a host's budget, and resident beyond its memory."""
    reserved = resident = 0.0
    for host in hosts:
        budget_bytes, memory_bytes = host.modelled.limits.budget_bytes, host.modelled.memory_bytes
        for life in host.ended:
            reserved = max(reserved, float(life.peak_reserved_bytes - budget_bytes))
            resident = max(resident, life.peak_resident_bytes - (memory_bytes or float("inf")))
    return {"reserved_too_much_bytes": reserved, "resident_too_much_bytes": resident}


def _devices(host: SimulatedHost) -> int:
    return len(host.modelled.limits.devices)


def _sums(hosts: Sequence[SimulatedHost]) -> tuple[Figures, Figures]:
    binding_s: Figures = defaultdict(float)
    waits_s: Figures = defaultdict(float)
    for host in hosts:
        spare = _has_spare_cores(host)
        for meter in [life.meter for life in host.ended]:
            for name, seconds in meter.binding_s.items():
                binding_s[SLOTS if spare and name == CORES else name] += seconds
            for name, seconds in meter.waits_s.items():
                waits_s[name] += seconds
    return binding_s, waits_s


def _has_spare_cores(host: SimulatedHost) -> bool:
    """With partitions in all slots some cores are idle, so that more of them would gain nothing."""
    cores, limits = host.modelled.profile.cores, host.modelled.limits
    if cores is None or device_kind(limits) == "cpu":
        return False
    return limits.synthesis_slots * cores.synthesis_cores < cores.count


def over_budget(hosts: Sequence[SimulatedHost]) -> bool:
    """More was taken than there is.

    More is reserved than the budget, as a fixed number of partitions at once may, or more resident than the
    memory, where what proofs take beside their reservations is more than the margin.
    """
    return any(_too_much(hosts).values())
