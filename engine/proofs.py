"""A proof as its caller sees it: the request, what has started and finished, and how it ended."""

import asyncio
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, NoReturn, get_args

from engine.catalog import CircuitSpec
from engine.errors import EngineError
from policy import Priority

Stage = Literal["load", "synthesize", "prove", "verify"]
STAGES: tuple[Stage, ...] = get_args(Stage)
Bar = Literal["admit", "load", "synthesize", "prove", "verify"]
"""What has times of its own: the stages, and the wait before them."""


def makes_proofs(until: Stage) -> bool:
    """Whether work that ends with the stage gets as far as proofs."""
    return until in ("prove", "verify")


@dataclass(frozen=True)
class ProofRequest:
    """What to prove, and where to put it; None: the result has it. `name` is for people, such as "merkle #2".

    partitions and priority: the circuit's own where they are None. due: when it should be done.
    until: the stage after which it ends; after "load" or "synthesize" there is no proof and no file.
    """

    circuit: CircuitSpec
    name: str
    output_dir: Path | None
    partitions: int | None = None
    priority: Priority | None = None
    due: datetime | None = None
    until: Stage = "verify"


@dataclass(frozen=True)
class StageSummary:
    """A finished stage: its real time and one sentence for people."""

    seconds: float
    detail: str


@dataclass(frozen=True)
class ProofResult:
    """A proof of which every partition was verified, in the order of the partitions."""

    proof_id: str
    name: str
    proof_paths: tuple[Path, ...]
    public_paths: tuple[Path, ...]
    stage_seconds: dict[Stage, float]  # summed over the partitions
    contents: tuple[tuple[bytes, bytes], ...] = ()  # proof.json and public.json where no files were wanted


@dataclass
class StageState:
    """One stage of one partition; times are seconds since the run's start, None while it is not so far."""

    started: asyncio.Event = field(default_factory=asyncio.Event)
    finished: asyncio.Event = field(default_factory=asyncio.Event)
    started_s: float | None = None
    finished_s: float | None = None

    @property
    def seconds(self) -> float:
        """0 while it is unfinished."""
        if self.started_s is None or self.finished_s is None:
            return 0.0
        return self.finished_s - self.started_s


class Progress:
    """Where the proof stands: a StageState for each stage of each partition, and the end."""

    def __init__(self, name: str, partitions: int) -> None:
        self.name, self.partitions = name, partitions
        self.submitted_s = 0.0
        self.devices: dict[int, str] = {}  # by partition: which proves it, or did last
        self._states = {(stage, index): StageState() for index in range(partitions) for stage in STAGES}
        self._ended = asyncio.Event()
        self._error: EngineError | None = None

    @property
    def ended(self) -> bool:
        return self._ended.is_set()

    @property
    def error(self) -> EngineError | None:
        """Why the proof ended without success."""
        return self._error

    def start(self, stage: Stage, index: int, at_s: float) -> None:
        state = self._states[stage, index]
        state.started_s = at_s
        state.started.set()

    def finish(self, stage: Stage, index: int, at_s: float) -> float:
        """Returns the stage's seconds."""
        state = self._states[stage, index]
        state.finished_s = at_s
        state.finished.set()
        return state.seconds

    def end(self, error: EngineError | None = None) -> None:
        """The proof is complete, or failed with `error`; whoever waits for it goes on."""
        self._error = error
        self._ended.set()
        for state in self._states.values():
            state.started.set()
            state.finished.set()

    def stage_seconds(self) -> dict[Stage, float]:
        """The stages' real times, summed over the partitions."""
        sums = dict.fromkeys(STAGES, 0.0)
        for (stage, _), state in self._states.items():
            sums[stage] += state.seconds
        return sums

    def waited_s(self, index: int) -> float:
        """From the submission to the partition's admission; 0 while it waits."""
        admitted_s = self.state("load", index).started_s
        return 0.0 if admitted_s is None else admitted_s - self.submitted_s

    def times_s(self, bar: Bar, index: int, now_s: float) -> tuple[float, float] | None:
        """For how many seconds it began and ended before `now_s`; None where it has not."""
        began_s: float | None = self.submitted_s
        if bar == "admit":
            ended_s = self.state("load", index).started_s
        else:
            state = self.state(bar, index)
            began_s, ended_s = state.started_s, state.finished_s
        return None if began_s is None or ended_s is None else (now_s - began_s, now_s - ended_s)

    def has_started(self, stage: Stage, index: int) -> bool:
        return self.state(stage, index).started.is_set()

    def has_finished(self, stage: Stage, index: int) -> bool:
        return self.state(stage, index).finished.is_set()

    async def wait_started(self, stage: Stage, index: int) -> None:
        state = self.state(stage, index)
        await state.started.wait()
        if state.started_s is None:
            self._raise()

    async def wait_finished(self, stage: Stage, index: int) -> float:
        """The stage's seconds."""
        state = self.state(stage, index)
        await state.finished.wait()
        if state.finished_s is None:
            self._raise()
        return state.seconds

    async def wait_ended(self) -> None:
        await self._ended.wait()
        if self._error is not None:
            self._raise()

    def state(self, stage: Stage, index: int) -> StageState:
        """The stage of that partition; ValueError where there is none."""
        try:
            return self._states[stage, index]
        except KeyError:
            expected = f"one of {', '.join(STAGES)} and a partition below {self.partitions}"
            raise ValueError(
                f"{self.name} has no stage {stage!r} of partition {index}; expected {expected}"
            ) from None

    def _raise(self) -> NoReturn:
        """Raise the error anew for each who waits: a shared one would gather all their tracebacks."""
        assert self._error is not None, "a proof that completes has finished every stage"
        raise type(self._error)(*self._error.args) from self._error.__cause__
