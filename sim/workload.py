"""What is to be proved."""

from collections.abc import Iterator
from dataclasses import dataclass

from policy import Circuit, Job, Priority


@dataclass(frozen=True)
class Batch:
    """A closed loop: `count` proofs, `concurrency` of them at a time, the next when one has ended.

    `constraints` of the circuit, where the machine's profile may have no observed times of it.
    """

    circuit: Circuit
    count: int
    concurrency: int
    partitions: int = 1
    priority: Priority = Priority.NORMAL
    constraints: int | None = None

    def __post_init__(self) -> None:
        for name in ("count", "concurrency", "partitions"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}, expected at least 1")

    def jobs(self) -> Iterator[Job]:
        for number in range(1, self.count + 1):
            yield Job(f"{self.circuit.name} #{number}", self.circuit, self.partitions, self.priority)
