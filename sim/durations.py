"""How long a stage takes when it runs alone: drawn from what was observed, else modelled by size."""

from math import exp, log1p
from random import Random
from statistics import NormalDist, fmean
from typing import NamedTuple

from policy import Circuit, Entry, Job
from sim.errors import SimError, UnplayableError
from sim.page_cache import PageCache
from sim.profile import MachineProfile, ObservedTimes, Stage, StageModel

QUANTILES = 1_000


class JobTimes(NamedTuple):
    """Seconds of each stage by the partition's index, and what a working set really takes, if known."""

    synthesize_s: list[float]
    prove_s: list[float]
    verify_s: list[float]
    working_bytes: int | None


class LoadTime(NamedTuple):
    """Seconds of reading from disk, and then of taking over what was in the system's memory."""

    disk_s: float
    mapped_s: float


class Durations:
    """Times by seed. Each stage of each circuit draws from its own stream, so that the n-th proof of a
    circuit takes the same times whatever else a run does, and in whatever order.
    """

    def __init__(self, profile: MachineProfile, constraints: dict[str, int], seed: int | str) -> None:
        """`constraints` by the circuit's name, for those that the profile has no observed times of."""
        self._profile = profile
        self._constraints = constraints
        self._seed = seed
        self._spread = _log_normal(profile.spread)
        self.page_cache = PageCache()
        self._streams: dict[str, tuple[Stream, Stream, Stream]] = {}

    def draw(self, job: Job) -> JobTimes:
        """Of the next proof of its circuit."""
        streams = self._streams.get(job.circuit.name) or self._open(job.circuit)
        synthesize, prove, verify = streams
        count, observed = job.partitions, self._profile.circuits.get(job.circuit.name)
        working_bytes = None if observed is None else observed.working_bytes
        return JobTimes(synthesize.take(count), prove.take(count), verify.take(count), working_bytes)

    def load_time(self, entry: Entry, circuit: Circuit, number: int) -> LoadTime:
        """Of the `number`-th load of a run. An entry has its share, by size, of its circuit's loads."""
        random = Random(f"{self._seed}/load/{number}/{entry.key}")
        observed = self._profile.circuits.get(circuit.name)
        if observed is not None and observed.load_s is not None and circuit.entries_bytes:
            return LoadTime(random.choice(observed.load_s) * entry.size_bytes / circuit.entries_bytes, 0.0)
        model, factor = self._profile.load, random.choice(self._spread)
        if model.mapped_bytes_per_s is None:
            return LoadTime(factor * (model.seconds + entry.size_bytes / model.bytes_per_s), 0.0)
        mapped_bytes = self.page_cache.share(entry.key, entry.size_bytes) * entry.size_bytes
        disk_s = (entry.size_bytes - mapped_bytes) / model.bytes_per_s
        return LoadTime(factor * disk_s, factor * (model.seconds + mapped_bytes / model.mapped_bytes_per_s))

    def usual_load_s(self, entry: Entry, circuit: Circuit) -> float:
        """On average, of a file that has not been read before."""
        observed = self._profile.circuits.get(circuit.name)
        if observed is not None and observed.load_s is not None and circuit.entries_bytes:
            return fmean(observed.load_s) * entry.size_bytes / circuit.entries_bytes
        return self._profile.load.seconds + entry.size_bytes / self._profile.load.bytes_per_s

    def _open(self, circuit: Circuit) -> "tuple[Stream, Stream, Stream]":
        streams = (
            self._stream("synthesize", circuit),
            self._stream("prove", circuit),
            self._stream("verify", circuit),
        )
        self._streams[circuit.name] = streams
        return streams

    def _stream(self, stage: Stage, circuit: Circuit) -> "Stream":
        return Stream(f"{self._seed}/{stage}/{circuit.name}", self.samples(stage, circuit))

    def samples(self, stage: Stage, circuit: Circuit) -> tuple[float, ...]:
        """What is drawn from, all equally likely. Raises UnplayableError where nothing is known."""
        observed = self._profile.circuits.get(circuit.name)
        if observed is not None and (samples := _samples(observed, stage)):
            return samples
        model: StageModel | None = getattr(self._profile, stage)
        if model is None:
            raise UnplayableError(self._unknown(stage, circuit))
        seconds = model.seconds + model.seconds_per_constraint * self._size(circuit)
        return tuple([seconds * factor for factor in self._spread])

    def _unknown(self, stage: Stage, circuit: Circuit) -> str:
        here = self._profile.device
        there, proves = ("processors", "a GPU proves") if here == "gpu" else ("a GPU", "processors prove")
        return (
            f"circuit {circuit.name}: profile {self._profile.name} knows how long the stage {stage} takes on "
            f"{there} alone, and here {proves}; give [{stage}_on_{here}], or learn it by "
            "`cuzk sim calibrate` from proofs that were made so"
        )

    def _size(self, circuit: Circuit) -> int:
        if circuit.name not in self._constraints:
            raise SimError(
                f"profile {self._profile.name} has no times of circuit {circuit.name}, and its number of "
                "constraints is not known; prove a batch of it first, or give the number"
            )
        return self._constraints[circuit.name]


class Stream:
    """Draws, with replacement, from samples that are equally likely."""

    def __init__(self, seed: str, samples: tuple[float, ...]) -> None:
        self._samples = samples
        self._choices = Random(seed).choices

    def take(self, count: int) -> list[float]:
        return self._choices(self._samples, k=count) if len(self._samples) > 1 else [*self._samples] * count


def _log_normal(spread: float) -> tuple[float, ...]:
    """Equally likely factors of mean 1 and relative standard deviation `spread`.

    Log-normal, as times have no upper bound and a lower one.
    """
    variance = log1p(spread**2)
    if not variance:
        return (1.0,)
    normal = NormalDist(-variance / 2, variance**0.5)
    return tuple([exp(normal.inv_cdf((number + 0.5) / QUANTILES)) for number in range(QUANTILES)])


def _samples(observed: ObservedTimes, stage: Stage) -> tuple[float, ...] | None:
    samples: tuple[float, ...] | None = getattr(observed, f"{stage}_s")
    return samples
