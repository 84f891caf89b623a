"""What a run has done and holds, as numbers, and as Prometheus's text (exposition format 0.0.4)."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from engine.proofs import STAGES
from policy import Decision, Evict, EvictFromDevice, Load, Upload, WaitCause

ENDS = ("succeeded", "failed", "cancelled")
Labels = tuple[tuple[str, str], ...]


@dataclass
class Metrics:
    """Counters of one run; kept on the event loop's thread, read from any. Those of ends and stages are there
    from the start: of a counter that appears with 1 Prometheus knows no increase.

    estimated_bytes and measured_bytes: working sets of the partitions that have ended, by circuit; the first
    as reserved, the second as their arrays took at most.
    """

    loads: int = 0
    evictions: int = 0
    uploads: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))  # by device
    device_evictions: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    proofs: dict[str, int] = field(default_factory=lambda: dict.fromkeys(ENDS, 0))
    wait_s: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))  # by cause
    stage_s: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))
    stages: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STAGES, 0))
    estimated_bytes: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    measured_bytes: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))

    def decided(self, decisions: Iterable[Decision]) -> None:
        """Count what the policy decided."""
        for decision in decisions:
            self.loads += isinstance(decision, Load)
            self.evictions += isinstance(decision, Evict)
            if isinstance(decision, Upload):
                self.uploads[decision.device] += 1
            elif isinstance(decision, EvictFromDevice):
                self.device_evictions[decision.device] += 1

    def waited(self, cause: WaitCause, seconds: float) -> None:
        """A part of a wait is over."""
        self.wait_s[cause.value] += seconds

    def finished(self, stage: str, seconds: float) -> None:
        """A stage of a partition is over."""
        self.stage_s[stage] += seconds
        self.stages[stage] += 1

    def took(self, circuit: str, estimated_bytes: int, measured_bytes: int) -> None:
        """A partition has ended."""
        self.estimated_bytes[circuit] += estimated_bytes
        self.measured_bytes[circuit] += measured_bytes


@dataclass(frozen=True)
class Gauge:
    """A value of this moment, or one for each value of a label."""

    name: str
    help: str
    read: Callable[[], float | Mapping[str, float]]
    label: str = ""

    def values(self) -> dict[Labels, float]:
        """The values by their labels."""
        found = self.read()
        return _by(self.label, found) if isinstance(found, Mapping) else {(): found}


def prometheus_text(metrics: Metrics, gauges: Iterable[Gauge]) -> str:
    """All of it, one family after the other, as a scrape is answered with."""
    families = [gauges_text(gauges)]
    counters: list[tuple[str, str, Mapping[Labels, float]]] = [
        ("loads_total", "Keys, matrices and calculators loaded.", {(): metrics.loads}),
        ("evictions_total", "Entries evicted.", {(): metrics.evictions}),
        ("gpu_uploads_total", "Keys sent to GPUs.", _by("gpu", metrics.uploads)),
        ("gpu_evictions_total", "Keys evicted there.", _by("gpu", metrics.device_evictions)),
        ("proofs_total", "Proofs ended, by state.", _by("state", metrics.proofs)),
        ("wait_seconds_total", "Time partitions waited, by cause.", _by("cause", metrics.wait_s)),
        ("stage_seconds_total", "Time of stages that are over.", _by("stage", metrics.stage_s)),
        ("stages_total", "Stages that are over.", _by("stage", metrics.stages)),
        (
            "working_set_estimated_bytes_total",
            "Working sets as reserved, of partitions that have ended.",
            _by("circuit", metrics.estimated_bytes),
        ),
        (
            "working_set_measured_bytes_total",
            "What their arrays took at most.",
            _by("circuit", metrics.measured_bytes),
        ),
    ]
    families += [_family(name, "counter", text, values) for name, text, values in counters]
    return "".join(families)


def gauges_text(gauges: Iterable[Gauge]) -> str:
    """Families of gauges alone."""
    return "".join(_family(gauge.name, "gauge", gauge.help, gauge.values()) for gauge in gauges)


def _by(label: str, values: Mapping[str, float]) -> dict[Labels, float]:
    return {((label, key),): value for key, value in sorted(values.items())}


def _family(name: str, kind: str, text: str, values: Mapping[Labels, float]) -> str:
    lines = [f"# HELP cuzk_{name} {text}", f"# TYPE cuzk_{name} {kind}"]
    lines += [f"cuzk_{name}{_braces(labels)} {value:.17g}" for labels, value in values.items()]
    return "\n".join(lines) + "\n"


def _braces(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
