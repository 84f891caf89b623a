"""How a batch is shown in Prefect: each proof as a DAG of its own or, where there are many, in groups."""

from typing import Protocol

from flows.followers import Followers
from flows.proof import show_proof
from tasks.group import Group, prove_group

MOST_TASKS = 600  # a server takes 15 ms of processor time for each
MOST_GROUPS = 200
TASKS_A_PARTITION = 4
BEHIND = 16  # proofs that have ended and are not wholly shown yet


class Owner(Protocol):
    """Whose the proofs are; an `Engine` is one."""

    def has_ended(self, proof_id: str) -> bool: ...
    def forget(self, proof_id: str) -> None: ...


class Shown(Protocol):
    """Is told of each proof by its index from 0."""

    def found(self, index: int) -> None:
        """It is there already, and will not be submitted."""

    async def submitted(self, index: int, proof_id: str, name: str) -> None: ...
    def ended(self, index: int, proof_id: str, error: Exception | None) -> None: ...
    def give_up(self) -> None:
        """Whatever is open will not be made."""


def shown(owner: Owner, circuit: str, count: int, partitions: int, followers: Followers) -> Shown:
    """Each proof where Prefect can bear it, else groups."""
    if count * partitions * TASKS_A_PARTITION <= MOST_TASKS:
        return EachProof(owner, partitions, followers)
    return InGroups(owner, followers, groups(circuit, count))


def groups(circuit: str, count: int, most: int = MOST_GROUPS) -> list[Group]:
    """At most so many, all of one size but the last."""
    size = -(-count // min(count, most))
    return [Group(circuit, first + 1, min(count, first + size)) for first in range(0, count, size)]


class EachProof:
    """A DAG of tasks for each proof. The engine forgets a proof once it is shown to its end."""

    def __init__(self, owner: Owner, partitions: int, followers: Followers) -> None:
        self._owner, self._partitions, self._followers = owner, partitions, followers
        self._open: set[str] = set()

    def found(self, index: int) -> None: ...

    async def submitted(self, index: int, proof_id: str, name: str) -> None:  # noqa: ARG002
        self._open.add(proof_id)
        await self._followers.start(self._show(proof_id, name))

    def ended(self, index: int, proof_id: str, error: Exception | None) -> None:  # noqa: ARG002
        self._leave(proof_id)

    def give_up(self) -> None:
        return

    async def _show(self, proof_id: str, name: str) -> None:
        try:
            await show_proof(proof_id, name, self._partitions)
        finally:
            self._leave(proof_id)

    def _leave(self, proof_id: str) -> None:
        """The second of the two that ask for the proof needs it no more."""
        if proof_id in self._open:
            self._open.remove(proof_id)
        elif self._owner.has_ended(proof_id):
            self._owner.forget(proof_id)


class InGroups:
    """A task for many proofs in a row, from the submission of the first to the end of the last."""

    def __init__(self, owner: Owner, followers: Followers, groups: list[Group]) -> None:
        self._owner, self._followers, self._groups = owner, followers, groups
        self._size = groups[0].count
        self._begun: set[int] = set()

    def found(self, index: int) -> None:
        self._groups[index // self._size].end_one(None)

    async def submitted(self, index: int, proof_id: str, name: str) -> None:  # noqa: ARG002
        number = index // self._size
        if number not in self._begun:
            self._begun.add(number)
            await self._followers.start(_show(self._groups[number]))

    def ended(self, index: int, proof_id: str, error: Exception | None) -> None:
        self._groups[index // self._size].end_one(error)
        self._owner.forget(proof_id)

    def give_up(self) -> None:
        for group in self._groups:
            group.give_up()


async def _show(group: Group) -> None:
    await prove_group(group)
