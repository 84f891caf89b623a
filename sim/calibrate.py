"""A machine's profile learned from recorded runs: times alone, how stages slow each other down, memory."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from sim.alone import Samples, checks_alone, proving_alone, synthesis_alone
from sim.contention import Cores
from sim.fit_memory import fitted_memory
from sim.hardware import DeviceKind, device_kind
from sim.predict import simulate_requests
from sim.profile import MachineProfile, MemoryModel, ObservedTimes
from sim.replay import RecordedRun
from sim.requests import requests_of
from sim.spans import Stages, stages_of

FEW = 10
OUTLIER = 5.0  # times the median: the machine slept


@dataclass(frozen=True)
class Learned:
    """The profile, and a line for each thing that it rests on little for."""

    profile: MachineProfile
    thin: tuple[str, ...]


@dataclass(frozen=True)
class _Times:
    """Seconds alone, and what they were found with: the processors, and what synthesis loses to bandwidth."""

    cores: Cores | None
    slowdown: float
    synthesize: Samples
    prove: Samples


def calibrate(
    runs: Sequence[RecordedRun], base: MachineProfile, name: str, cores: Cores | None = None
) -> Learned:
    """`base` gives what the runs do not tell: times of other circuits, hosts and prices.

    `cores`: the machine's and the pools' threads. A partition is taken to keep one busy while it synthesizes,
    and where the processors prove, all of that pool while it proves; a smaller share fits a batch of several
    at a time as well, and proofs one at a time far worse. Raises SimError for a run that is no example, such
    as one in which a proof failed.
    """
    requests = [requests_of(run.log, run.run_id) for run in runs]
    stages = [stages_of(run.log) for run in runs]
    device = device_kind(runs[0].limits)
    times = _times(stages, base.synthesis_slowdown, cores, device)
    circuits = _circuits(stages, times, device)
    on_cores = cores is not None and device == "cpu"
    profile = base.model_copy(
        update={
            "name": name,
            "about": f"learned from {len(runs)} run{'s' * (len(runs) > 1)} of this machine",
            "cores": times.cores or base.cores,
            "synthesis_slowdown": times.slowdown,
            "host_before_share": 0.0 if on_cores else base.host_before_share,
            "host_after_share": 0.0 if on_cores else base.host_after_share,
            "quotient_share": _quotient_share(stages) if on_cores else base.quotient_share,
            "memory": _memory(runs, circuits),
            "circuits": {**base.circuits, **circuits},
        }
    )
    rss = [
        run.peak_rss_bytes - simulate_requests(asked, run.limits, profile, policy=run.policy).peak_rss_bytes
        for run, asked in zip(runs, requests, strict=True)
        if run.peak_rss_bytes is not None
    ]
    if rss:
        memory = profile.memory.model_copy(update={"base": max(0, round(median(rss)))})
        profile = profile.model_copy(update={"memory": memory})
    return Learned(profile, tuple(_thin(stages, profile)))


def _memory(runs: Sequence[RecordedRun], circuits: dict[str, ObservedTimes]) -> MemoryModel:
    """What is held in each stage; the base follows from the peaks."""
    measured = {name: times.working_bytes for name, times in circuits.items() if times.working_bytes}
    return fitted_memory([(run.log, run.rss) for run in runs], measured) or MemoryModel()


def _times(stages: Sequence[Stages], slowdown: float, cores: Cores | None, device: DeviceKind) -> _Times:
    if cores is not None and device == "cpu":
        slowdown = 0.0  # what synthesis loses to its like is for want of cores
        cores = cores.model_copy(update={"proving_cores": float(cores.proving_threads or cores.count)})
    synthesize = _together([synthesis_alone(each, slowdown, cores) for each in stages])
    return _Times(cores, slowdown, synthesize, proving_alone(stages, cores if device == "cpu" else None))


def _together(runs: Sequence[Samples]) -> Samples:
    joined: Samples = defaultdict(list)
    for samples in runs:
        for name, seconds in samples.items():
            joined[name] += seconds
    return dict(joined)


def _circuits(stages: Sequence[Stages], times: _Times, device: DeviceKind) -> dict[str, ObservedTimes]:
    verify = _together([checks_alone(each, times.cores if device == "cpu" else None) for each in stages])
    loads = _together([_loads(each) for each in stages])
    found = {}
    for name in times.synthesize.keys() & times.prove.keys() & verify.keys():
        measured = [size for each in stages for size in each.measured_bytes.get(name, ())]
        found[name] = ObservedTimes(
            synthesize_s=_usual(times.synthesize[name]),
            prove_s=_usual(times.prove[name]),
            verify_s=_usual(verify[name]),
            device=device,
            load_s=_usual(loads[name]) if name in loads else None,
            working_bytes=max(measured, default=None),
            loaded_share=_loaded_share(stages, name),
        )
    return dict(sorted(found.items()))


def _loaded_share(stages: Sequence[Stages], circuit: str) -> float:
    """Of what is reserved for all its entries together: a small one counts for little."""
    loads = [each.loaded_bytes.get(circuit, (0, 0)) for each in stages]
    reserved_bytes = sum(reserved for _, reserved in loads)
    return min(1.0, sum(loaded for loaded, _ in loads) / reserved_bytes) if reserved_bytes else 1.0


def _loads(stages: Stages) -> Samples:
    """Of all entries of a circuit together: each time from the first that begins to the last that ends."""
    samples: Samples = defaultdict(list)
    until_s: dict[str, float] = {}
    for span in sorted(stages.spans, key=lambda span: span.began_s):
        if span.kind != "load":
            continue
        if span.began_s > until_s.get(span.circuit, float("-inf")):
            samples[span.circuit].append(0.0)
            until_s[span.circuit] = span.began_s
        longer_s = max(0.0, span.ended_s - until_s[span.circuit])
        samples[span.circuit][-1] += longer_s
        until_s[span.circuit] += longer_s
    return samples


def _usual(samples: Sequence[float]) -> tuple[float, ...]:
    """Without outliers, in order of size."""
    limit = OUTLIER * median(samples)
    return tuple(sorted(round(sample, 6) for sample in samples if sample <= limit))


def _quotient_share(stages: Sequence[Stages]) -> float:
    """Where they share a device evenly; on one that they take in turn, waits would count as part of it."""
    shares = [share for each in stages for share in each.quotient_shares]
    return round(median(shares), 3) if shares else MachineProfile.model_fields["quotient_share"].default


def _thin(stages: Sequence[Stages], profile: MachineProfile) -> list[str]:
    lines = []
    for name in sorted({name for each in stages for name in each.circuits}):
        times = profile.circuits.get(name)
        if times is None:
            lines.append(
                f"{name}: some stage was never seen to end, so its times are not known; prove more of it"
            )
            continue
        for stage in ("synthesize", "prove", "verify", "load"):
            count = len(getattr(times, f"{stage}_s") or ())
            if count < (FEW if stage != "load" else 2):
                times_text = "once" if count == 1 else f"{count} times"
                lines.append(f"{name}: {stage} was seen {times_text}; its spread is a guess")
    return lines + _narrow(stages)


def _narrow(stages: Sequence[Stages]) -> list[str]:
    """How many were seen at once."""
    lines = []
    synthesizing = {each.synthesizing for run in stages for each in run.at_work} - {0}
    proving = {len(each.proving) for run in stages for each in run.at_work} - {0}
    for what, seen in (("synthesize", synthesizing), ("prove", proving)):
        if len(seen) == 1:
            lines.append(f"only {min(seen)} at a time was seen to {what}; what more or fewer do is assumed")
    return lines
