"""Proofs shown one by one."""

from flows.display.followers import Followers
from flows.display.proof import show_proof
from flows.display.shape import Owner


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
