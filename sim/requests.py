"""What a recorded run was asked for, so that the same can be asked of a model: closed loop, or arrivals."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from policy import Cancel, Complete, Fail, Job, Reject, Resized, Shared, Submit, Unload
from sim.errors import SimError
from sim.spans import Entry

UNFORESEEN = {
    Cancel: "a proof was cancelled",
    Resized: "the budget was changed",
    Shared: "another process of the host took its share of the memory",
    Unload: "a key was unloaded",
}
"""What no model of a run foresees."""
AT_ONCE_S = 1.0
"""After the end of a proof, within which the next of a closed loop has come."""


@dataclass(frozen=True)
class Requests:
    """Jobs in their order. `concurrency` of them are under way at a time; None: each comes at its time."""

    jobs: tuple[Job, ...]
    concurrency: int | None
    at_s: tuple[float, ...]


def requests_of(log: Sequence[Entry], name: str) -> Requests:
    """Raises SimError for a run in which something failed, or was cancelled or resized: a model of what goes
    well says nothing of it.
    """
    jobs: list[Job] = []
    at_s: list[float] = []
    unfinished = most = late = 0
    ended_s = float("-inf")
    for entry in log:
        if isinstance(entry.event, Submit):
            late += unfinished + 1 <= most and entry.at_s > ended_s + AT_ONCE_S
            jobs.append(replace(entry.event.job, due_s=None))
            at_s.append(entry.at_s)
            unfinished += 1
            most = max(most, unfinished)
        elif (unforeseen := UNFORESEEN.get(type(entry.event))) is not None:
            raise SimError(f"run {name}: {unforeseen}, which no model foresees; choose another")
        for decision in entry.decisions:
            if isinstance(decision, Fail | Reject):
                raise SimError(
                    f"run {name}: {decision.job_id} failed ({decision.why}); choose one that went well"
                )
            if isinstance(decision, Complete):
                unfinished -= 1
                ended_s = entry.at_s
    if not jobs:
        raise SimError(f"run {name} has no proofs; choose another")
    return Requests(tuple(jobs), None if late else most, tuple(each - at_s[0] for each in at_s))
