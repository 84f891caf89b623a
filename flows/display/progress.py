"""How a batch gets on, told to whoever started it and to the log in the UI."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from prefect import get_run_logger

from flows.display.artifacts import ProgressBar
from flows.summary import observer
from tasks.source import source

WORD_EVERY_S = 5.0
PROOFS_IN_A_WORD = 3


def teller() -> Callable[[str], None]:
    """`tell` for threads, which do not know the flow run."""
    logger, told = get_run_logger(), observer.get()

    def tell_from_anywhere(line: str) -> None:
        logger.info("%s", line)
        if told:
            told(line)

    return tell_from_anywhere


def tell(line: str, in_log: bool = True) -> None:
    """A line for the flow's log, unless it is to be left out there, and for the observer if there is one."""
    if in_log:
        get_run_logger().info("%s", line)
    if told := observer.get():
        told(line)


@dataclass
class Progress:
    """Which proofs of a batch are under way, and how many have ended, well or not.

    bar: shows it in the UI. in_log: whether the flow's log has a line for each proof that is made.
    """

    count: int
    proved: int = 0
    ended: int = 0
    bar: ProgressBar | None = None
    in_log: bool = True
    _names: dict[str, str] = field(default_factory=dict)  # by proof id
    _started_s: float = field(default_factory=time.monotonic)

    def submitted(self, proof_id: str, name: str) -> None:
        self._names[proof_id] = name

    def succeeded(self, proof_id: str, seconds: float) -> None:
        self.proved += 1
        self.ended += 1
        line = f"{self._names.pop(proof_id)} proved in {seconds:.1f} s ({self.proved} of {self.count})"
        tell(line, self.in_log)

    def failed(self, proof_id: str, error: Exception) -> None:
        del self._names[proof_id]
        self.ended += 1
        tell(f"failed: {error}")

    @asynccontextmanager
    async def words(self) -> AsyncIterator[None]:
        """Inside the block, say every few seconds what goes on and what is waited for."""
        done = asyncio.Event()
        speaker = asyncio.create_task(self._speak(done))
        try:
            yield
        finally:
            done.set()  # a cancel in the midst of making the bar would have another one made
            await asyncio.wait([speaker])
            if self.bar is not None:
                self.bar.begin_last(self.ended, self.count, f"{self.proved} of {self.count} proved")

    async def _show(self, words: str) -> None:
        if self.bar is not None:
            await self.bar.show(self.ended, self.count, words)

    async def _speak(self, done: asyncio.Event) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(WORD_EVERY_S):
                    await done.wait()
                return
            word = f"{time.monotonic() - self._started_s:.0f} s: {self.word()}"
            tell(word)
            await self._show(word)

    def word(self) -> str:
        """One line: how many are proved, and what the oldest of the others do."""
        proofs, words = source.get(), [f"{self.proved} of {self.count} proved"]
        under_way = [each for each in self._names.items() if not proofs.has_ended(each[0])]
        for proof_id, name in under_way[:PROOFS_IN_A_WORD]:
            _, _, does = proofs.explain(proof_id).partition(" ")  # after the partition's id
            words.append(f"{name} {does}")
        more = len(under_way) - PROOFS_IN_A_WORD
        return "; ".join([*words, f"and {more} more"] if more > 0 else words)
