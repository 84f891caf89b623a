"""Digests in place of names that are nobody's business: of this host, and of files and folders.

The same name has the same digest everywhere, so runs can still be told apart and counted by it. Whoever
guesses a name can find out whether it was that one.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any, Literal

from db.changes import Change
from db.digest import digest
from db.process import host_name

Kind = Literal["paths", "hosts"]

_DIGITS = 12
_PATH = re.compile(r"(?<![\w./])~?/[^\s:;,'\"()]+")  # an absolute one, wherever in a text

_TELLING = {"host", "output_path", "proof_path", "error", "settings", "description", "event", "decisions"}
"""Columns, of whatever table, in which such names may stand."""


def hidden_host(name: str) -> str:
    """What is recorded in place of a host's name."""
    return f"host-{digest(name)[:_DIGITS]}"


def hidden_path(path: str) -> str:
    """What is recorded in place of a path."""
    return f"path-{digest(path)[:_DIGITS]}"


def hider(kinds: Collection[Kind]) -> Callable[[Change], Change]:
    """A function that gives the same change with digests in place of the names of those kinds."""
    host = re.compile(rf"(?<!\w){re.escape(host_name())}(?!\w)")

    def in_text(text: str) -> str:
        if "paths" in kinds:
            text = _PATH.sub(lambda found: hidden_path(found[0]), text)
        return host.sub(hidden_host(host_name()), text) if "hosts" in kinds else text

    def in_value(value: Any) -> Any:
        if isinstance(value, str):
            return in_text(value)
        if isinstance(value, dict):
            return {key: in_value(item) for key, item in value.items()}
        return [in_value(item) for item in value] if isinstance(value, list | tuple) else value

    def hide(change: Change) -> Change:
        told = {name: in_value(change.values[name]) for name in _TELLING & change.values.keys()}
        return replace(change, values={**change.values, **told})

    return hide if kinds else lambda change: change
