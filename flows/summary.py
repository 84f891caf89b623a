"""What comes of a batch, and who is told of it meanwhile. Light to import: no Prefect, no kernels."""

import asyncio
import errno
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import overload

from config.refusals import is_refusal
from engine import EngineError, ProofCancelled, ProofFailed
from flows.errors import FlowError

NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


@dataclass(frozen=True, slots=True)
class ProofSummary:
    """One proof of a batch: from its submission to its end, and why it failed if it did.

    late_s: for how long the batch was past its due time when the proof was made.
    """

    name: str
    seconds: float
    error: EngineError | None = None
    late_s: float = 0.0

    @property
    def state(self) -> str:
        """Whether it was made, and in time."""
        if self.error is not None:
            return "cancelled" if self.is_cancelled else "failed"
        return f"proved, {in_words(self.late_s)} late" if self.late_s else "proved"

    @property
    def is_cancelled(self) -> bool:
        """Not made for no fault of its own."""
        return isinstance(self.error, ProofCancelled)


def in_words(seconds: float) -> str:
    """A time in its two greatest units: "2 h 5 min", "3 d 1 h"."""
    minutes, rest_s = divmod(round(seconds), 60)
    hours, rest_min = divmod(minutes, 60)
    days, rest_h = divmod(hours, 24)
    if days:
        return f"{days} d {rest_h} h"
    if hours:
        return f"{hours} h {rest_min} min"
    return f"{minutes} min {rest_s} s" if minutes else f"{seconds:.1f} s"


def no_space(error: BaseException | None) -> bool:
    """Whether there was no room for a proof's files, as there will be none for others."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in NO_SPACE:
            return True
        error = error.__cause__
    return False


class Proofs(Sequence[ProofSummary]):
    """Those of a batch that were begun, in order. No tuple: Prefect would walk ten thousand of them."""

    def __init__(self, proofs: Iterable[ProofSummary] = ()) -> None:
        self._proofs = tuple(proofs)

    @overload
    def __getitem__(self, index: int) -> ProofSummary: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[ProofSummary]: ...
    def __getitem__(self, index: int | slice) -> ProofSummary | Sequence[ProofSummary]:
        return self._proofs[index]

    def __len__(self) -> int:
        return len(self._proofs)

    def failed_first(self) -> list[ProofSummary]:
        """Those that failed, then those that were made, then those that were cancelled."""
        return sorted(self, key=lambda proof: (proof.is_cancelled, proof.error is None))


@dataclass(frozen=True)
class BatchSummary:
    """What a batch comes to. Stages, bytes and waits are in the history, under `run_id`.

    count: the proofs that were asked for; `found` of them were there from the run that this one resumes.
    """

    run_id: str
    history: str
    output: Path
    log: Path | None
    flow_run_url: str | None
    count: int = 0
    found: int = 0
    proofs: Proofs = field(default_factory=Proofs)

    @property
    def failed(self) -> tuple[ProofSummary, ...]:
        """The proofs that failed, those that were cancelled last."""
        return tuple(proof for proof in self.proofs.failed_first() if proof.error is not None)

    @property
    def late(self) -> list[float]:
        """By how much, in seconds, of each proof that was made after the batch's due time."""
        return [proof.late_s for proof in self.proofs if proof.error is None and proof.late_s]

    @property
    def proved(self) -> int:
        """How many are there now."""
        return self.found + len(self.proofs) - len(self.failed)

    @property
    def headline(self) -> str:
        """How many were proved and how many failed, and the first failure if there was any."""
        failed = self.failed
        words = [f"{self.proved} of {self.count} proved"]
        if faults := sum(not proof.is_cancelled for proof in failed):
            words[0] += f", {faults} failed"
        if self.found:
            words[0] += f", {self.found} of them before"
        if len(self.proofs) + self.found < self.count and faults:
            words[0] += ", stopped after the first failure"
        if late := self.late:
            words[0] += f", {len(late)} of them up to {in_words(max(late))} late"
        words += [str(proof.error) for proof in failed[:1]]
        if any(no_space(proof.error) for proof in failed):
            words.append(f"make space for {self.output}, and resume run {self.run_id}")
        return "; ".join(words)


class BatchFailed(FlowError):  # noqa: N818 it is a result as much as an error
    """Some proofs have failed, and the others were made; `__cause__` is the first failure."""

    def __init__(self, summary: BatchSummary) -> None:
        super().__init__(summary.headline)
        self.summary = summary


def says_it_all(error: BaseException) -> bool:
    """Whether its words are meant for the user, and no fault of the program is behind them."""
    while isinstance(error, BatchFailed | ProofFailed) and error.__cause__ is not None:
        error = error.__cause__
    return is_refusal(error) or isinstance(error, OSError)


class BatchCancelled(asyncio.CancelledError):
    """A batch was cancelled that had begun; `summary` has the proofs so far."""

    def __init__(self, summary: BatchSummary) -> None:
        super().__init__()
        self.summary = summary


class BatchInterrupted(KeyboardInterrupt):
    """A signal has ended a batch that had begun, in good order; `summary` is without proofs."""

    def __init__(self, summary: BatchSummary) -> None:
        super().__init__()
        self.summary = summary


observer: ContextVar[Callable[[str], None] | None] = ContextVar("observer", default=None)
"""Is told how a batch gets on, a line at a time, besides the flow's log."""

begun: ContextVar[Callable[[BatchSummary], None] | None] = ContextVar("begun", default=None)
"""Is told where a batch keeps what it makes once its run is in the history; no proofs are in the summary."""
