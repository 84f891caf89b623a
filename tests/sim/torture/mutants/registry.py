"""Where mutants are kept: by name, the rules by which they may be caught, and the patch of the policy."""

from collections.abc import Callable
from typing import Any

import pytest

Patch = pytest.MonkeyPatch
MUTANTS: dict[str, tuple[set[int], Callable[[Patch], None]]] = {}


def mutant(*rules: int) -> Callable[[Callable[[Patch], None]], None]:
    """The rules by which the fault may show first."""

    def add(patch: Callable[[Patch], None]) -> None:
        MUTANTS[patch.__name__] = (set(rules), patch)

    return add


def after(original: Callable[..., Any], then: Callable[..., Any]) -> Callable[..., Any]:
    """The original, and `then` with its result and arguments."""

    def both(*arguments: Any) -> Any:
        return then(original(*arguments), *arguments)

    return both
