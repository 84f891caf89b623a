"""A recorded run, real or simulated, once more through the policy: the same events must decide the same."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

from simpy import Event as Signal

from db import History, memory_samples, policy_events, show_run
from policy import Decision, Event, Limits, ProtocolError
from policy.codec import decode_decision, decode_event, decode_limits
from sim.clock import Clock
from sim.contention import Cores, cores_of
from sim.errors import SimError
from sim.kinds import BUDGET, policy_of


@dataclass(frozen=True)
class Recorded:
    """An entry of a decision log."""

    at_s: float
    event: Event
    decisions: tuple[Decision, ...]


@dataclass(frozen=True)
class RecordedRun:
    """What a replay starts from."""

    run_id: str
    limits: Limits
    policy: str
    log: tuple[Recorded, ...]
    peak_rss_bytes: int | None = None
    peak_reserved_bytes: int | None = None
    cores: Cores | None = None  # where processors proved
    rss: tuple[tuple[float, int], ...] = ()  # resident bytes by time


def read_recorded(history: History, run_id: str) -> RecordedRun:
    """A run's log from the history. Raises HistoryError if there is none, SimError for one without log."""
    detail = show_run(history, run_id)
    rows = policy_events(history, run_id)
    if detail.run.policy_limits is None or not rows:
        raise SimError(f"run {run_id} has no log of its policy, so it cannot be replayed; choose another")
    log = [
        Recorded(row.at_s, decode_event(row.event), tuple(decode_decision(each) for each in row.decisions))
        for row in rows
    ]
    policy = str((detail.config or {}).get("policy", BUDGET))
    run = detail.run
    limits = decode_limits(detail.run.policy_limits)
    rss = tuple(
        (sample.at_s, sample.rss_bytes)
        for sample in memory_samples(history, run_id)
        if sample.rss_bytes is not None
    )
    cores = cores_of(limits, detail.machine or {}, detail.config or {})
    return RecordedRun(
        run_id, limits, policy, tuple(log), run.peak_rss_bytes, run.peak_reserved_bytes, cores, rss
    )


def replay(
    limits: Limits, events: Sequence[tuple[float, Event]], policy: str = BUDGET
) -> tuple[Recorded, ...]:
    """The decisions of a fresh policy that is given the events at their times.

    Raises SimError where an event cannot be: under these limits and policy the run would have gone otherwise.
    """
    log, refusal = _feed(limits, events, policy)
    if refusal is not None:
        raise SimError(refusal)
    return tuple(log)


def replay_run(recorded: RecordedRun) -> str | None:
    """None if a replay decides all as recorded, else the first difference in one line."""
    events = [(entry.at_s, entry.event) for entry in recorded.log]
    log, refusal = _feed(recorded.limits, events, recorded.policy)
    if refusal is not None:  # a decision before it was another, else the log is not of this policy
        return first_difference(recorded.log[: len(log)], log) or refusal
    return first_difference(recorded.log, log)


def _feed(
    limits: Limits, events: Sequence[tuple[float, Event]], policy: str
) -> tuple[list[Recorded], str | None]:
    """The log as far as it goes, and why it ended early, if it did."""
    env, scheduler = Clock(), policy_of(policy, limits)
    log: list[Recorded] = []

    def feed() -> Generator[Signal, Any, None]:
        for at_s, event in events:
            yield env.timeout(max(0.0, at_s - env.now))
            # The recorded time itself: the clock's sum of differences may miss it by a rounding.
            log.append(Recorded(at_s, event, tuple(scheduler.handle(event, at_s))))

    env.process(feed())
    try:
        env.run()
    except ProtocolError as error:
        return log, f"event {len(log)}: {error}"
    return log, None


def first_difference(recorded: Sequence[Recorded], replayed: Sequence[Recorded]) -> str | None:
    """Where two logs part, in one line; None if they are the same."""
    for number, (was, now) in enumerate(zip(recorded, replayed, strict=False)):
        if was != now:
            return (
                f"event {number} at {was.at_s} s, {type(was.event).__name__}: recorded "
                f"{_names(was)}, replayed {_names(now)}"
            )
    if len(recorded) != len(replayed):
        return f"{len(recorded)} events recorded, {len(replayed)} replayed"
    return None


def _names(entry: Recorded) -> str:
    return ", ".join([repr(decision) for decision in entry.decisions]) or "nothing"
