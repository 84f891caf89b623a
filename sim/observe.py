"""Times of real runs, from the history, as a profile wants them: as if each partition had run alone."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from statistics import median

from db import History, StageObservation, stage_seconds
from sim.hardware import DeviceKind
from sim.profile import MachineProfile, ObservedTimes

NEWEST = 2_000
OUTLIER = 3.0  # times the median: a first run compiles its kernels, a suspended machine sleeps


def with_history(
    profile: MachineProfile, history: History, circuits: Iterable[str], device: DeviceKind
) -> MachineProfile:
    """The profile with the observed times of those of the circuits that real runs have proved.

    Times that the profile has itself stay: they may have been learned with more care (see `sim.calibrate`).
    """
    observed = {
        name: observed_times(stage_seconds(history, name, newest=NEWEST), profile, device)
        for name in circuits
        if name not in profile.circuits
    }
    known = {name: times for name, times in observed.items() if times is not None}
    return profile.model_copy(update={"circuits": {**profile.circuits, **known}})


def observed_times(
    observations: Sequence[StageObservation], profile: MachineProfile, device: DeviceKind
) -> ObservedTimes | None:
    """None where some stage was never observed. Where `device` never proved, times are those of the other."""
    by_stage: dict[str, list[StageObservation]] = defaultdict(list)
    for each in observations[-NEWEST * 6 :]:
        by_stage[each.stage].append(each)
    synthesize_s = _usual(_alone(by_stage["synthesize"], profile.synthesis_slowdown))
    proved = by_stage["prove"]
    chosen = [each for each in proved if _kind(each) == device] or proved
    prove_s = _usual(_on_a_serial_device(chosen))
    verify_s = _usual([each.seconds for each in by_stage["verify"]])
    if not (synthesize_s and prove_s and verify_s):
        return None
    return ObservedTimes(
        synthesize_s=synthesize_s,
        prove_s=prove_s,
        verify_s=verify_s,
        device=_kind(chosen[0]),
        load_s=_usual(_longest_of_each_run(by_stage["load"])) or None,
    )


def _kind(proved: StageObservation) -> DeviceKind:
    return "gpu" if (proved.device or "").startswith("gpu") else "cpu"


def _alone(observations: Sequence[StageObservation], slowdown: float) -> list[float]:
    """Seconds as they would have been with nothing of the same stage beside them in the run."""
    return [
        each.seconds / (1 + (at_once - 1) * slowdown)
        for run in _groups(observations, lambda each: each.run_id)
        for each, at_once in zip(run, _mean_at_once(run), strict=True)
    ]


def _on_a_serial_device(observations: Sequence[StageObservation]) -> list[float]:
    """For each partition the mean of its run and device: the time the device was busy, by what it proved.

    In whatever way the device divided its time between its workers (service demand law: Denning and Buzen,
    The Operational Analysis of Queueing Network Models, 1978).
    """
    means = []
    for group in _groups(observations, lambda each: (each.run_id, each.device)):
        means += [_busy_s(group) / len(group)] * len(group)
    return means


def _busy_s(group: Sequence[StageObservation]) -> float:
    """How long at least one of the group ran."""
    busy_s, until_s = 0.0, float("-inf")
    for each in sorted(group, key=lambda each: each.started_s):
        busy_s += max(0.0, each.ended_s - max(each.started_s, until_s))
        until_s = max(until_s, each.ended_s)
    return busy_s


def _groups(
    observations: Sequence[StageObservation], key: Callable[[StageObservation], Hashable]
) -> Iterable[list[StageObservation]]:
    groups: dict[Hashable, list[StageObservation]] = defaultdict(list)
    for each in observations:
        groups[key(each)].append(each)
    return groups.values()


def _mean_at_once(group: Sequence[StageObservation]) -> list[float]:
    """How many of the group ran, on average, while each of them did."""
    counts = []
    for each in group:
        beside_s = sum(
            max(0.0, min(each.ended_s, other.ended_s) - max(each.started_s, other.started_s))
            for other in group
        )
        counts.append(beside_s / each.seconds if each.seconds > 0 else 1.0)
    return counts


def _longest_of_each_run(loads: Sequence[StageObservation]) -> list[float]:
    """The first to need the entries loaded them; the others found them, or waited for a part of that."""
    longest: dict[str, float] = {}
    for each in loads:
        longest[each.run_id] = max(longest.get(each.run_id, 0.0), each.seconds)
    return list(longest.values())


def _usual(samples: Sequence[float]) -> tuple[float, ...]:
    """Without outliers, in order of size."""
    if not samples:
        return ()
    limit = OUTLIER * median(samples)
    return tuple(sorted(sample for sample in samples if sample <= limit))
