"""What a partition of a circuit is taken to need, and what of that is not in memory."""

from collections.abc import Mapping

from policy import Circuit
from sim.torture.on_devices import Stored


class Expected:
    """Of one circuit: the formula, or the greatest of what eight took last; less than the formula only after
    three, and never less than its half.
    """

    __slots__ = (
        "_took",
        "circuit",
        "device_bytes",
        "entries_bytes",
        "in_memory",
        "job_s",
        "keys",
        "missing_bytes",
        "seen",
        "working_bytes",
    )

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        self.keys = tuple([entry.key for entry in circuit.entries])
        self.entries_bytes = circuit.entries_bytes
        self.working_bytes = circuit.working_bytes
        self.device_bytes = circuit.device_bytes
        self.job_s = 0.0  # from the first admission of a job to its last proof
        self._took: list[int] = []
        # As of so many changes of what is stored; see `Holdings.in_memory`.
        self.seen = -1
        self.missing_bytes = 0
        self.in_memory = False

    def look_up(self, stored: Mapping[str, Stored], changes: int) -> None:
        self.seen, self.missing_bytes, self.in_memory = changes, 0, True
        for entry in self.circuit.entries:
            here = stored.get(entry.key)
            if here is None:
                self.missing_bytes += entry.size_bytes
            if here is None or here.loading:
                self.in_memory = False

    def measured(self, working_bytes: int) -> None:
        self._took = [*self._took, working_bytes][-8:]
        formula_bytes = self.circuit.working_bytes
        floor_bytes = (formula_bytes + 1) // 2 if len(self._took) >= 3 else formula_bytes
        self.working_bytes = max([floor_bytes, *self._took])

    def fit(self, most_bytes: int) -> None:
        """Of the devices that are left none has more than this for a partition."""
        if most_bytes >= self.circuit.device_bytes:
            self.device_bytes = min(self.device_bytes, most_bytes)

    @property
    def phase1_bytes(self) -> int:
        """The formula's, less what would be missing of the formula's phase 2."""
        lacking_bytes = max(0, self.circuit.working_bytes - self.working_bytes)
        return max(0, self.circuit.phase1_bytes - lacking_bytes)
