"""What a batch of proofs is given and what comes of it. Light to import: no Prefect, no kernels."""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from config import Config, ConfigError, load_config, parse_budget
from config.bounds import MOST, MOST_PROOFS
from engine import EngineError
from flows.errors import FlowError


class BatchParameters(BaseModel):
    """The form of a batch in Prefect's UI."""

    circuit: str = Field(
        title="Circuit", description="A circuit of the configuration file, or a bundled one."
    )
    count: int = Field(3, title="Proofs", description="How many proofs to make.", ge=1, le=MOST_PROOFS)
    concurrency: int = Field(
        3,
        title="At a time",
        description="How many proofs are submitted at a time; the memory budget decides how many run.",
        ge=1,
        le=MOST,
    )
    partitions: int | None = Field(
        None,
        title="Partitions",
        description="Groth16 proofs that make up one proof. Empty: as many as the circuit's.",
        ge=1,
        le=MOST,
    )
    priority: Literal["critical", "high", "normal", "low"] | None = Field(
        None, title="Priority", description="Which proofs go first. Empty: the circuit's."
    )
    budget: str | None = Field(
        None,
        title="Memory budget",
        description='For keys and working memory together: "2GiB" or "auto". Empty: the file\'s.',
    )
    config: Path | None = Field(
        None,
        title="Configuration file",
        description="Empty: $CUZK_CONFIG, else cuzk.toml in the working folder.",
    )
    output: Path | None = Field(
        None, title="Output folder", description="Where the proofs go. Empty: a folder of the run's own."
    )

    @property
    def title(self) -> str:
        """What the batch is called: "merkle ×3"."""
        return f"{self.circuit} ×{self.count}"


def batch_config(parameters: BatchParameters, warn: Callable[[str], None]) -> Config:
    """The settings, with the batch's budget where it has its own. Raises ConfigError."""
    return with_budget(load_config(parameters.config, warn), parameters.budget)


def with_budget(config: Config, budget: str | None) -> Config:
    """The settings with another budget, unless that is None. Raises ConfigError."""
    if budget is None:
        return config
    try:
        total_budget = parse_budget(budget)
    except ConfigError as error:
        raise ConfigError(f"budget: {error}") from error
    memory = config.memory.model_copy(update={"total_budget": total_budget})
    return config.model_copy(update={"memory": memory})


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
