"""How work is told to end, also where it cannot look by itself."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kernels.parallel import Stopped


class StopFlag:
    """Set once, from any thread, with a reason or without. Whoever works looks at it now and then.

    Code that cannot look, such as another machine's, is interrupted by an action given to `interrupting`.
    """

    def __init__(self) -> None:
        self.why: Exception | None = None
        self._lock = threading.Lock()
        self._is_set = False
        self._actions: list[Callable[[], object]] = []

    def set(self, why: Exception | None = None) -> None:
        """Ask to end; the first reason stays."""
        with self._lock:
            if self._is_set:
                return
            self._is_set, self.why = True, why
            actions = list(self._actions)
        for action in actions:
            action()

    def is_set(self) -> bool:
        return self._is_set

    def check(self) -> None:
        """Raise Stopped if the work is to end."""
        if self._is_set:
            raise Stopped

    @contextmanager
    def interrupting(self, action: Callable[[], object]) -> Iterator[None]:
        """Inside the block, `set` calls the action, in its own thread; raises Stopped where it is set."""
        with self._lock:
            if self._is_set:
                raise Stopped
            self._actions.append(action)
        try:
            yield
        finally:
            with self._lock:
                self._actions.remove(action)
