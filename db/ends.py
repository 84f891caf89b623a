"""Ends of proofs and runs, which must outlive a process that is killed before they are committed."""

from collections.abc import Iterable, Sequence

from db.changes import Change, Insert, Update

_ENDS = {"proof": "ended_s", "run": "ended_at"}
_ABOVE_PROOFS = ("machine", "config", "run")


def is_end(change: Change) -> bool:
    """Whether a proof or a run ends by it."""
    name = _ENDS.get(change.table.name) if isinstance(change, Update) else None
    return name in change.values


def with_their_rows(ends: Sequence[Change], waiting: Iterable[Change]) -> list[Change]:
    """The ends, after those of the rows that wait to be inserted without which they cannot be told."""
    keys = {change.key for change in ends}
    new = [change for change in waiting if isinstance(change, Insert)]
    return [*(each for each in new if each.table.name in _ABOVE_PROOFS or each.key in keys), *ends]
