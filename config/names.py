"""Suggestions for misspelt names."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The one of `names` most like `name`, case aside, or None where none is near enough to suggest."""
    by_folded = {candidate.casefold(): candidate for candidate in names}
    found = get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None
