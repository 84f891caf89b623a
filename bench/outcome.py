"""What became of each proof that was asked for, seen by who asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from bench.statistics import Spread, spread

State = Literal["open", "succeeded", "failed", "cancelled"]
WORK = ("load", "synthesize", "prove", "verify")


@dataclass
class StageSpan:
    """A stage of a partition; seconds since the run's start. ended_s: None while it lasts."""

    partition: int
    stage: str
    started_s: float
    ended_s: float | None = None


@dataclass
class Outcome:
    """A proof: asked for at asked_s, accepted at accepted_s, ended at ended_s, all since the run's start.

    timings: seconds by stage as the daemon counts them; devices: by partition, those that proved it.
    """

    number: int
    circuit: str
    asked_s: float
    job_id: str = ""
    state: State = "open"
    accepted_s: float | None = None
    ended_s: float | None = None
    error: str = ""
    spans: list[StageSpan] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    devices: dict[int, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.circuit} #{self.number}"

    @property
    def seconds(self) -> float:
        """From asking to the end; 0 while it is open."""
        return 0.0 if self.ended_s is None else self.ended_s - self.asked_s

    def begin(self, partition: int, stage: str, at_s: float) -> None:
        """A stage has started."""
        self.spans.append(StageSpan(partition, stage, at_s))

    def finish(self, partition: int, stage: str, at_s: float) -> None:
        """And finished; one whose start was not told counts for nothing."""
        for span in reversed(self.spans):
            if (span.partition, span.stage) == (partition, stage) and span.ended_s is None:
                span.ended_s = at_s
                return

    def accepted_by(self, at_s: float) -> None:
        """It was accepted then at the latest, whatever the time was when that became known here.

        Stages are known by the time since, so they move with it.
        """
        late_s = 0.0 if self.accepted_s is None else self.accepted_s - max(at_s, self.asked_s)
        if self.accepted_s is None or late_s <= 0:
            return
        self.accepted_s -= late_s
        for span in self.spans:
            span.started_s -= late_s
            if span.ended_s is not None:
                span.ended_s -= late_s

    def with_waits(self) -> Iterator[StageSpan]:
        """The stages, and between them the waits: for admission, and once synthesized for a device."""
        for partition in sorted({span.partition for span in self.spans}):
            before_s = self.accepted_s if self.accepted_s is not None else self.asked_s
            for span in sorted(self._of(partition), key=lambda each: each.started_s):
                if span.stage in ("load", "prove") and span.started_s > before_s:
                    yield StageSpan(
                        partition, "wait" if span.stage == "load" else "queue", before_s, span.started_s
                    )
                yield span
                before_s = span.ended_s if span.ended_s is not None else span.started_s

    def _of(self, partition: int) -> list[StageSpan]:
        return [span for span in self.spans if span.partition == partition]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Summary:
    """Of many: how they ended, the time from the first asked to the last ended, and what each took."""

    asked: int
    succeeded: int
    failed: int
    cancelled: int
    seconds: float
    latency: Spread | None
    stages: dict[str, Spread]

    @property
    def rate(self) -> float:
        """Proofs a second."""
        return self.succeeded / self.seconds if self.seconds > 0 else 0.0

    def lines(self) -> list[str]:
        """For people."""
        lines = [f"{self.succeeded} of {self.asked} proofs in {self.seconds:.2f} s"]
        if self.succeeded:
            lines[0] += f", {self.seconds / self.succeeded:.3f} s a proof, {60 * self.rate:.2f} a minute"
        if self.failed or self.cancelled:
            lines.append(f"{self.failed} failed, {self.cancelled} cancelled")
        if self.latency is not None:
            lines.append(f"from asking to the proof: {self.latency}")
        lines += [f"{stage}: {each}" for stage, each in self.stages.items()]
        return lines


def summary(outcomes: Sequence[Outcome], asked: int) -> Summary:
    """Of the outcomes so far; open ones count as cancelled."""
    good = [each for each in outcomes if each.state == "succeeded"]
    failed = sum(each.state == "failed" for each in outcomes)
    ends = [each.ended_s for each in outcomes if each.ended_s is not None]
    begun_s = min((each.asked_s for each in outcomes), default=0.0)
    stages = {
        stage: found
        for stage in ("queue", *WORK)
        if (found := spread([each.timings[stage] for each in good if stage in each.timings])) is not None
    }
    return Summary(
        asked,
        len(good),
        failed,
        len(outcomes) - len(good) - failed,
        max(ends, default=begun_s) - begun_s,
        spread([each.seconds for each in good]),
        stages,
    )
