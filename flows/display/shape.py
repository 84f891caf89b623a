"""What a batch looks like to those who show it in Prefect, and they to it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

MOST_TASKS = 600  # of proofs with tasks of their own, unless that is asked for
TASKS_A_PARTITION = 4


@dataclass(frozen=True)
class Shape:
    """Of a batch. name_of: a proof's, by its index. each: every proof is to have tasks of its own, however
    many those are.
    """

    circuit: str
    count: int
    partitions: int
    name_of: Callable[[int], str]
    each: bool = False

    def name(self, first: int, end: int) -> str:
        """Of the proofs from index `first` to before `end`: "merkle #4-#12"."""
        # A dash is missing in the font of the graph in Prefect's UI.
        names = [self.name_of(first), self.name_of(end - 1).removeprefix(f"{self.circuit} ")]
        return names[0] if end == first + 1 else "-".join(names)

    @property
    def is_small(self) -> bool:
        """Whether Prefect can bear tasks for every proof."""
        return self.count * self.partitions * TASKS_A_PARTITION <= MOST_TASKS


class Owner(Protocol):
    """Whose the proofs are; an `Engine` is one."""

    def has_ended(self, proof_id: str) -> bool: ...
    def forget(self, proof_id: str) -> None: ...


class Shown(Protocol):
    """Is told of each proof by its index from 0; they are submitted in order."""

    def found(self, index: int) -> None:
        """It is there already, and will not be submitted."""

    async def submitted(self, index: int, proof_id: str, name: str) -> None: ...
    def ended(self, index: int, proof_id: str, error: Exception | None) -> None: ...
    def give_up(self) -> None:
        """Whatever is open will not be made."""
