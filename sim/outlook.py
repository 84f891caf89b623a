"""How soon a host of several would be done with one more proof."""

from statistics import fmean

from policy import Circuit, Entry, Priority
from sim.bound import device_rate, synthesis_rate
from sim.durations import Durations
from sim.host import SimulatedHost
from sim.workload import Request


class Outlook:
    """Of one host: the work that it has taken and not done, by priority, and what a proof would add to it.

    Work counts at the rate of the stage that is the slower one of a circuit, as `sim.bound` has it, and loads
    by what is usual: what a host's owner could know too.
    """

    def __init__(self, host: SimulatedHost) -> None:
        profile, limits = host.modelled.profile, host.modelled.limits
        self._host, self._device_count = host, len(limits.devices)
        self._synthesis_rate = synthesis_rate(limits, profile)
        self._device_rate = device_rate(limits, profile)
        self._device_share = 1 - profile.host_before_share - profile.host_after_share  # of proving
        self._left_s = dict.fromkeys(Priority, 0.0)
        self._partition_s: dict[str, float] = {}  # by the circuit
        self._load_s: dict[str, float] = {}  # by the entry

    def seconds(self, request: Request) -> float:
        """From now until the proof would be done, if nothing more urgent came; never without a device."""
        circuit, devices = request.circuit, len(self._host.devices)
        if not devices:
            return float("inf")
        before_s = sum(seconds for priority, seconds in self._left_s.items() if priority <= request.priority)
        own_s = request.partitions * self.partition_s(circuit)
        in_memory = self._host.meter.in_memory
        load_s = sum(
            self._usual_load_s(each, circuit) for each in circuit.entries if each.key not in in_memory
        )
        return (before_s + own_s) * self._device_count / devices + load_s

    def take(self, priority: Priority, seconds: float) -> None:
        """So much work was added, or, where it is negative, done or given up."""
        self._left_s[priority] = max(0.0, self._left_s[priority] + seconds)

    def partition_s(self, circuit: Circuit) -> float:
        """What a partition takes of the host's time."""
        if circuit.name not in self._partition_s:
            durations: Durations = self._host.durations
            self._partition_s[circuit.name] = max(
                fmean(durations.samples("synthesize", circuit)) / self._synthesis_rate,
                fmean(durations.samples("prove", circuit)) * self._device_share / self._device_rate,
            )
        return self._partition_s[circuit.name]

    def _usual_load_s(self, entry: Entry, circuit: Circuit) -> float:
        if entry.key not in self._load_s:
            self._load_s[entry.key] = self._host.durations.usual_load_s(entry, circuit)
        return self._load_s[entry.key]
