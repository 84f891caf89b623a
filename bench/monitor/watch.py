"""A thread that looks at a process again and again, and hands each sample to who wants it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from bench.errors import BenchError
from bench.monitor.finding import Target
from bench.monitor.look import Look
from bench.monitor.sample import ProcessSample

Sink = Callable[[ProcessSample], None]


class Monitor:
    """Use as `with Monitor(target, sinks, say)`: samples every `interval_s` until the block is left.

    The first sample is taken before the block begins, so that what cannot be watched is refused and not
    logged as nothing. `say` is told once of each thing that is not known, and when the process ends; sinks
    are called in the monitor's thread. begun_s: what samples count from, by time.monotonic(); None: now.
    told: of what was said before that it is not known, as by a monitor of the process before; kept up.
    """

    def __init__(
        self,
        target: Target,
        sinks: Sequence[Sink],
        say: Callable[[str], None],
        interval_s: float = 1.0,
        begun_s: float | None = None,
        told: set[str] | None = None,
    ) -> None:
        self._target, self._sinks, self._say, self._interval_s = target, sinks, say, interval_s
        self._begun_s = begun_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="monitor", daemon=True)
        self._error: BaseException | None = None
        self._told = set() if told is None else told
        self.last: ProcessSample | None = None
        self.count = 0
        self.peak_rss_bytes = 0
        self.ended: str | None = None
        """Why nothing is sampled any more; None while the process lives."""

    def __enter__(self) -> Self:
        self._look = Look(self._target, self._begun_s)
        try:
            self._sample()
        except BaseException:
            self._look.close()
            raise
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        if self._goes_on:
            self._watch_once()  # how it was at the end
        self._look.close()
        if self._error is not None and error is None:
            raise self._error

    def _watch(self) -> None:
        next_s = time.monotonic() + self._interval_s
        while self._goes_on and not self._stop.wait(max(0.0, next_s - time.monotonic())):
            self._watch_once()
            next_s = max(next_s, time.monotonic()) + self._interval_s

    @property
    def _goes_on(self) -> bool:
        return self.ended is None and self._error is None

    def _watch_once(self) -> None:
        try:
            self._sample()
        except BenchError as error:
            self.ended = str(error)
            self._say(str(error))
        except Exception as error:
            self._error = error

    def _sample(self) -> None:
        sample = self._look.take()
        for each in self._look.unknown:
            if each not in self._told:
                self._told.add(each)
                self._say(f"not known: {each}")
        self.last, self.count = sample, self.count + 1
        self.peak_rss_bytes = max(self.peak_rss_bytes, sample.rss_bytes)
        for sink in self._sinks:
            sink(sample)
