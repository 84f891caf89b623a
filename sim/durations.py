"""How long a stage takes when it runs alone: drawn from what was observed, else modelled by size."""

from math import exp, log1p
from random import Random

from policy import Circuit, Entry, PartitionId
from sim.errors import SimError
from sim.profile import MachineProfile, ObservedTimes, Stage, StageModel


class Durations:
    """Times by seed. Each stage of each partition draws from its own stream, so that what one run does more,
    or in another order, than another leaves the times of the rest as they are.
    """

    def __init__(self, profile: MachineProfile, constraints: dict[str, int], seed: int) -> None:
        """`constraints` by the circuit's name, for those that the profile has no observed times of."""
        self._profile = profile
        self._constraints = constraints
        self._seed = seed

    def stage_s(self, stage: Stage, circuit: Circuit, partition: PartitionId) -> float:
        random = Random(f"{self._seed}/{stage}/{partition}")
        observed = self._profile.circuits.get(circuit.name)
        if observed is not None:
            return random.choice(_samples(observed, stage))
        model: StageModel = getattr(self._profile, stage)
        return self._vary(model.seconds + model.seconds_per_constraint * self._size(circuit), random)

    def load_s(self, entry: Entry, circuit: Circuit, number: int) -> float:
        """Of the `number`-th load of a run. An entry has its share, by size, of its circuit's loads."""
        random = Random(f"{self._seed}/load/{number}/{entry.key}")
        observed = self._profile.circuits.get(circuit.name)
        if observed is not None and observed.load_s is not None and circuit.entries_bytes:
            return random.choice(observed.load_s) * entry.size_bytes / circuit.entries_bytes
        model = self._profile.load
        return self._vary(model.seconds + entry.size_bytes / model.bytes_per_s, random)

    def _size(self, circuit: Circuit) -> int:
        if circuit.name not in self._constraints:
            raise SimError(
                f"profile {self._profile.name} has no times of circuit {circuit.name}, and its number of "
                "constraints is not known; prove a batch of it first, or give the number"
            )
        return self._constraints[circuit.name]

    def _vary(self, seconds: float, random: Random) -> float:
        """Log-normal with mean `seconds`, as times have no upper bound and a lower one."""
        if not self._profile.spread:
            return seconds
        variance = log1p(self._profile.spread**2)
        return seconds * exp(random.gauss(-variance / 2, variance**0.5))


def _samples(observed: ObservedTimes, stage: Stage) -> tuple[float, ...]:
    samples: tuple[float, ...] = getattr(observed, f"{stage}_s")
    return samples
