"""What comes of a batch, and who is told of it meanwhile. Light to import: no Prefect, no kernels."""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from engine import EngineError
from flows.errors import FlowError


@dataclass(frozen=True)
class ProofSummary:
    """One proof of a batch: from its submission to its end, and why it failed if it did."""

    name: str
    seconds: float
    proof_paths: tuple[Path, ...] = ()
    error: EngineError | None = None


@dataclass(frozen=True)
class BatchSummary:
    """What a batch comes to. Stages, bytes and waits are in the history, under `run_id`."""

    run_id: str
    history: str
    output: Path
    log: Path
    flow_run_url: str | None
    proofs: tuple[ProofSummary, ...] = ()

    @property
    def failed(self) -> tuple[ProofSummary, ...]:
        """The proofs that failed."""
        return tuple(proof for proof in self.proofs if proof.error is not None)

    @property
    def headline(self) -> str:
        """How many were proved, and the first failure if there was any."""
        failed, count = self.failed, len(self.proofs)
        return "; ".join(
            [f"{count - len(failed)} of {count} proved", *(str(proof.error) for proof in failed[:1])]
        )


class BatchFailed(FlowError):  # noqa: N818 it is a result as much as an error
    """Some proofs have failed, and the others were made; `__cause__` is the first failure."""

    def __init__(self, summary: BatchSummary) -> None:
        super().__init__(summary.headline)
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
