"""The engine of this process: one at a time, since it owns the process's memory."""

from typing import TYPE_CHECKING

from engine.errors import EngineError

if TYPE_CHECKING:
    from engine.engine import Engine

_running: "Engine | None" = None


def current() -> "Engine":
    """The engine whose `async with` block is running in this process; EngineError if there is none."""
    if _running is None:
        raise EngineError("no engine is running in this process; enter `async with Engine(...)` first")
    return _running


def enter(engine: "Engine") -> None:
    """Make it the current one; EngineError if another is running."""
    global _running
    if _running is not None:
        raise EngineError("an engine is running in this process already; two would promise its memory twice")
    _running = engine


def leave() -> None:
    """There is no current engine any more."""
    global _running
    _running = None
