"""Ends of proofs and runs, which must outlive a process that is killed before they are committed.

A proof is at its end from when it is said where its last file will be: should the process be killed as it
gives files their names, whoever closes the run looks whether that one is there.
"""

from collections.abc import Iterable, Sequence

from db.changes import Change, Insert

_ENDS = {"proof": ("ended_s", "proof_path"), "run": ("ended_at",)}
_ABOVE_PROOFS = ("machine", "config", "run")
_NEEDED = (*_ABOVE_PROOFS, "proof")


def is_end(change: Change) -> bool:
    """Whether a proof or a run ends by it, or is about to."""
    if isinstance(change, Insert):
        return False
    return any(name in change.values for name in _ENDS.get(change.table.name, ()))


def needed_by_ends(changes: Iterable[Change]) -> list[Insert]:
    """The rows among them without which an end cannot be told."""
    return [each for each in changes if isinstance(each, Insert) and each.table.name in _NEEDED]


def with_their_rows(ends: Sequence[Change], needed: Iterable[Insert]) -> list[Change]:
    """The ends, after those rows that they need."""
    keys = {change.key for change in ends}
    return [*(each for each in needed if each.table.name in _ABOVE_PROOFS or each.key in keys), *ends]
