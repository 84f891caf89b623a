"""What a daemon does at signals: SIGTERM and SIGINT end it, the second of them at once; SIGHUP reloads."""

import asyncio
import signal
from collections.abc import Callable

from engine.forced_end import STOPPING


class Signals:
    """Handlers on the loop, which takes over from whatever handled signals before."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.stop, self.again = asyncio.Event(), asyncio.Event()
        self._loop = loop
        for number in STOPPING:
            loop.add_signal_handler(number, self._asked_to_stop)
        loop.add_signal_handler(signal.SIGHUP, lambda: None)  # until there is something to reload

    def on_reload(self, reload: Callable[[], None]) -> None:
        """From now on SIGHUP calls this."""
        self._loop.add_signal_handler(signal.SIGHUP, reload)

    def _asked_to_stop(self) -> None:
        (self.again if self.stop.is_set() else self.stop).set()
