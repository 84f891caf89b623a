"""How long stages would take alone, found in what they took beside each other.

A stage's span is cut where the number at work changes, and each piece is divided by the stretch of that
number. What a circuit's proving takes alone is found from all spans at once: where partitions take turns on a
device, in proportion to what they take, each gets on by dt / (stretch · mean of what those at work take), and
over its span by 1. This keeps the device's busy time what it was, whatever was proved beside what (service
demand law: Denning and Buzen, The Operational Analysis of Queueing Network Models, 1978).
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

from sim.contention import Cores, synthesis_stretch
from sim.shared import LEAST_S
from sim.spans import AtWork, Span, Stages

Samples = dict[str, list[float]]
"""Seconds by circuit."""

ROUNDS, ENOUGH = 5_000, 1e-7
"""Of the iteration for what proving takes, and the share that may be wrong at its end."""


class Timeline:
    """Who was at work when."""

    def __init__(self, at_work: Sequence[AtWork]) -> None:
        self._at_work = at_work
        self._starts = [each.at_s for each in at_work]

    def pieces(self, span: Span) -> Iterator[tuple[float, AtWork]]:
        """The span's seconds, cut where the number at work changes, and who was at work in each."""
        number = max(0, bisect_right(self._starts, span.began_s) - 1)
        at_s = span.began_s
        while at_s < span.ended_s:
            last = number + 1 >= len(self._starts)
            until_s = span.ended_s if last else min(span.ended_s, self._starts[number + 1])
            if until_s > at_s:
                yield until_s - at_s, self._at_work[number]
            at_s, number = until_s, number + 1


def synthesis_alone(stages: Stages, slowdown: float, cores: Cores | None) -> Samples:
    """Seconds of each synthesis without others beside it."""
    stretch, timeline = synthesis_stretch(slowdown, cores), Timeline(stages.at_work)
    samples: Samples = defaultdict(list)
    for span in stages.spans:
        if span.kind == "synthesize":
            pieces = timeline.pieces(span)
            alone_s = sum(
                seconds / stretch(max(1, each.synthesizing), len(each.proving)) for seconds, each in pieces
            )
            samples[span.circuit].append(alone_s)
    return dict(samples)


def checks_alone(stages: Stages, cores: Cores | None) -> Samples:
    """Seconds of each check of a proof without others beside it; `cores`: where the processors proved."""
    stretch: Callable[[int, int], float] = (
        (lambda _synthesizing, _proving: 1.0) if cores is None else cores.check_stretch
    )
    timeline = Timeline(stages.at_work)
    samples: Samples = defaultdict(list)
    for span in stages.spans:
        if span.kind == "verify":
            pieces = timeline.pieces(span)
            alone_s = sum(seconds / stretch(each.synthesizing, len(each.proving)) for seconds, each in pieces)
            samples[span.circuit].append(alone_s)
    return dict(samples)


def proving_alone(runs: Sequence[Stages], cores: Cores | None) -> Samples:
    """Seconds of each proof without others on its device; a circuit takes the same in all runs."""
    spans = [(span, [*_proving(stages, span, cores)]) for stages in runs for span in _proofs(stages)]
    by_size = 1.0 if cores is None else cores.by_size
    alone_s = _balanced(spans, by_size)
    samples: Samples = defaultdict(list)
    for span, pieces in spans:
        samples[span.circuit].append(alone_s[span.circuit] * _done(pieces, span.circuit, alone_s, by_size))
    return dict(samples)


def _balanced(spans: "Sequence[tuple[Span, list[Piece]]]", by_size: float) -> dict[str, float]:
    """Such seconds for each circuit that on average a proof of it gets done in its span."""
    counts, together = Counter[str](), dict[str, dict[tuple[str, ...], float]]()
    for span, pieces in spans:
        counts[span.circuit] += 1
        sums = together.setdefault(span.circuit, defaultdict(float))
        for seconds, beside in pieces:
            sums[beside] += seconds
    mean = {
        name: [(s / counts[name], beside) for beside, s in sums.items()] for name, sums in together.items()
    }
    alone_s = {name: sum(seconds for seconds, _ in pieces) for name, pieces in mean.items()}
    for _ in range(ROUNDS):
        done = {name: _done(pieces, name, alone_s, by_size) for name, pieces in mean.items()}
        alone_s = {name: alone_s[name] * share for name, share in done.items()}
        if all(abs(share - 1) < ENOUGH for share in done.values()):
            break
    return alone_s


Piece = tuple[float, tuple[str, ...]]
"""Seconds, divided by the stretch, and the circuits of those that prove on the device."""


def _proving(stages: Stages, span: Span, cores: Cores | None) -> Iterator[Piece]:
    stretch: Callable[[int, int], float] = (
        (lambda at_work, _synthesizing: float(at_work)) if cores is None else cores.proving_stretch
    )
    for seconds, each in Timeline(stages.at_work).pieces(span):
        beside = tuple([circuit for device, circuit in each.proving if device == span.device])
        beside = beside or (span.circuit,)
        yield seconds / stretch(len(beside), each.synthesizing), beside


def _proofs(stages: Stages) -> Iterator[Span]:
    return (span for span in stages.spans if span.kind == "prove" and span.seconds > 0)


def _done(pieces: Sequence[Piece], name: str, alone_s: dict[str, float], by_size: float) -> float:
    """The share of a proof that gets done in its span, if circuits take so long alone: 1 where it is so."""
    if not by_size:
        return sum(seconds for seconds, _ in pieces) / alone_s[name]
    weights: dict[str, float] = {each: max(seconds, LEAST_S) ** by_size for each, seconds in alone_s.items()}
    done_s = sum(seconds / fmean([weights[each] for each in beside]) for seconds, beside in pieces)
    return done_s * weights[name] / alone_s[name]
