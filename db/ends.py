"""Ends of proofs and runs, which must outlive a process that is killed before they are committed.

A proof is at its end from when it is said where its last file will be: should the process be killed as it
gives files their names, whoever closes the run looks whether that one is there.
"""

from collections.abc import Iterable, Sequence

from db.changes import Change, Insert, Update

_ENDS = {"proof": {"ended_s", "proof_path"}, "run": {"ended_at"}}
_ABOVE_PROOFS = ("machine", "config", "run")


def is_end(change: Change) -> bool:
    """Whether a proof or a run ends by it, or is about to."""
    return isinstance(change, Update) and not _ENDS.get(change.table.name, set()).isdisjoint(change.values)


def with_their_rows(ends: Sequence[Change], waiting: Iterable[Change]) -> list[Change]:
    """The ends, after those of the rows that wait to be inserted without which they cannot be told."""
    keys = {change.key for change in ends}
    new = [change for change in waiting if isinstance(change, Insert)]
    return [*(each for each in new if each.table.name in _ABOVE_PROOFS or each.key in keys), *ends]
