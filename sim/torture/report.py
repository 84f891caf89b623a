"""A finding in words: the case, line by line, and the decision log up to where the rule broke."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from hashlib import sha256

from policy import Decision, Entry, Event, PartitionId, Submit
from sim.torture.case import Arrival, Death
from sim.torture.driver import Logged
from sim.torture.trial import Finding

LAST = 60  # entries of the log


def finding_lines(finding: Finding) -> Iterator[str]:
    case = finding.case
    yield f"seed {case.seed}: {finding.why}"
    yield f"  {case.limits}"
    yield f"  {case.pace}"
    for circuit in dict.fromkeys(arrival.job.circuit for arrival in case.arrivals):
        yield f"  {circuit}"
    for arrival in case.arrivals:
        yield f"  {_arrival(arrival)}"
    for fault in case.faults:
        yield f"  {fault}"
    if len(finding.log) > LAST:
        yield f"the last {LAST} of {len(finding.log)} events, and what was decided:"
    else:
        yield "every event, and what was decided:"
    yield from log_lines(finding.log, LAST)


def log_digest(log: tuple[Logged, ...]) -> str:
    """Equal for equal logs, in every process."""
    return sha256("\n".join(log_lines(log, len(log))).encode()).hexdigest()[:16]


def log_lines(log: tuple[Logged, ...], last: int) -> Iterator[str]:
    for entry in log[-last:]:
        decisions = ", ".join([message_text(decision) for decision in entry.decisions])
        yield f"  {entry.at_s:10.3f} s  {message_text(entry.event):28}  {decisions}".rstrip()


def message_text(message: Event | Decision | Death) -> str:
    """The kind and its fields, as "Prove job3[1] device0"."""
    if isinstance(message, Submit):
        job = message.job
        return f"Submit {job.id} {job.circuit.name} ×{job.partitions} {job.priority.name.lower()}"
    values = [_value(getattr(message, field.name)) for field in fields(message)]
    return " ".join([type(message).__name__, *values])


def _value(value: object) -> str:
    if isinstance(value, Entry):
        return value.key
    return str(value) if isinstance(value, PartitionId) or not is_dataclass(value) else repr(value)


def _arrival(arrival: Arrival) -> str:
    job = arrival.job
    deadline = "" if arrival.deadline_s is None else f", deadline after {arrival.deadline_s:.3f} s"
    retries = f", {arrival.retries} retries" if arrival.retries else ""
    what = f"{job.id} of {job.circuit.name}, {job.partitions} partitions, {job.priority.name.lower()}"
    return f"at {arrival.at_s:.3f} s {what}{deadline}{retries}"
