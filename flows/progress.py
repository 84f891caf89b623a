"""How a batch gets on, told to whoever started it and to the log in the UI."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from prefect import get_run_logger

import engine
from flows.summary import observer

WORD_EVERY_S = 5.0
PROOFS_IN_A_WORD = 3


def tell(line: str) -> None:
    """A line for the flow's log, and for the observer if there is one."""
    get_run_logger().info("%s", line)
    if told := observer.get():
        told(line)


@dataclass
class Progress:
    """Which proofs of a batch are under way, and how many have ended well."""

    count: int
    proved: int = 0
    _names: dict[str, str] = field(default_factory=dict)  # by proof id
    _started_s: float = field(default_factory=time.monotonic)

    def submitted(self, proof_id: str, name: str) -> None:
        self._names[proof_id] = name

    def succeeded(self, proof_id: str, seconds: float) -> None:
        self.proved += 1
        tell(f"{self._names.pop(proof_id)} proved in {seconds:.1f} s ({self.proved} of {self.count})")

    def failed(self, proof_id: str, error: Exception) -> None:
        del self._names[proof_id]
        tell(f"failed: {error}")

    @asynccontextmanager
    async def words(self) -> AsyncIterator[None]:
        """Inside the block, say every few seconds what goes on and what is waited for."""
        speaker = asyncio.create_task(self._speak())
        try:
            yield
        finally:
            speaker.cancel()
            await asyncio.wait([speaker])

    async def _speak(self) -> None:
        while True:
            await asyncio.sleep(WORD_EVERY_S)
            tell(f"{time.monotonic() - self._started_s:.0f} s: {self.word()}")

    def word(self) -> str:
        """One line: how many are proved, and what the oldest of the others do."""
        current, words = engine.current(), [f"{self.proved} of {self.count} proved"]
        under_way = [each for each in self._names.items() if not current.has_ended(each[0])]
        if recorded := len(self._names) - len(under_way):  # Prefect's tasks end a little later
            words.append(f"{recorded} more at their end, being recorded")
        for proof_id, name in under_way[:PROOFS_IN_A_WORD]:
            _, _, does = current.explain(proof_id).partition(" ")  # after the partition's id
            words.append(f"{name} {does}")
        more = len(under_way) - PROOFS_IN_A_WORD
        return "; ".join([*words, f"and {more} more"] if more > 0 else words)
