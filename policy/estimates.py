"""What a partition is expected to take: at first the circuit's formula, then what earlier ones really took.

The formula comes with the circuit. A measurement above it counts at once. Measurements below it count from
the third on, as the greatest of the last eight, and never as less than half of the formula: what is too
little by mistake must not fill the machine.
"""

from collections import OrderedDict
from collections.abc import Iterator

from policy.model import Circuit

NEWEST = 8
ENOUGH = 3
CIRCUITS = 1_000


class Estimate:
    """Of one circuit. `job_s` is what its last job took from its first admission to its end."""

    __slots__ = ("_circuit", "_measured_bytes", "device_bytes", "job_s", "phase1_bytes", "working_bytes")

    def __init__(self, circuit: Circuit) -> None:
        self._circuit = circuit
        self._measured_bytes: tuple[int, ...] = ()
        self.working_bytes = circuit.working_bytes
        self.phase1_bytes = circuit.phase1_bytes
        self.device_bytes = circuit.device_bytes
        self.job_s = 0.0

    def measured(self, working_bytes: int) -> bool:
        """Take a measurement; whether the estimate has changed by it."""
        self._measured_bytes = (*self._measured_bytes, working_bytes)[-NEWEST:]
        before_bytes, formula_bytes = self.working_bytes, self._circuit.working_bytes
        greatest_bytes = max(self._measured_bytes)
        least_bytes = formula_bytes if len(self._measured_bytes) < ENOUGH else -(-formula_bytes // 2)
        self.working_bytes = max(greatest_bytes, least_bytes)
        # The peak may have been in phase 2: that keeps what its formula says, or all there is.
        phase1_bytes = self._circuit.phase1_bytes
        self.phase1_bytes = min(phase1_bytes, max(0, self.working_bytes - self._circuit.phase2_bytes))
        return self.working_bytes != before_bytes

    def crowded(self, memory_bytes: int, at_once: int) -> bool:
        """A device with this memory beside the circuit's entry had too little for `at_once` partitions.

        Whether fewer at once can help.
        """
        if at_once < 2 or self.device_bytes >= memory_bytes:
            return False
        share_bytes = memory_bytes // at_once + 1  # so that one fewer fit
        self.device_bytes = share_bytes if share_bytes > self.device_bytes else memory_bytes
        return True

    def fit(self, most_bytes: int) -> None:
        """No device is left that has more than this for a partition: what was learned of larger ones goes."""
        if most_bytes >= self._circuit.device_bytes:
            self.device_bytes = min(self.device_bytes, most_bytes)


class Estimates:
    """Of the circuits that were used last, as many as `CIRCUITS`."""

    def __init__(self) -> None:
        self._by_circuit: OrderedDict[Circuit, Estimate] = OrderedDict()

    def __call__(self, circuit: Circuit) -> Estimate:
        """The circuit's estimate as it is; one that is not known is not kept either."""
        return self._by_circuit.get(circuit) or Estimate(circuit)

    def __iter__(self) -> Iterator[tuple[Circuit, Estimate]]:
        return iter(self._by_circuit.items())

    def keep(self, circuit: Circuit, estimate: Estimate) -> None:
        self._by_circuit[circuit] = estimate
        self._by_circuit.move_to_end(circuit)
        if len(self._by_circuit) > CIRCUITS:
            self._by_circuit.popitem(last=False)
