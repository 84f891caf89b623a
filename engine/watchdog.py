"""Names what a run waits for that has not got on for long, so that none hangs without a word."""

import asyncio
import concurrent.futures
import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable

log = logging.getLogger("cuzk.engine")
stacks_log = logging.getLogger("cuzk.engine.stacks")
stacks_log.setLevel(logging.INFO)  # whatever level the settings have for the rest: nothing else tells where

LOOKS_BEFORE_A_REPORT = 10
ANSWER_WITHIN_S = 2.0


class Watchdog:
    """A thread that looks whether `progress` has changed, between start() and stop().

    After `stall_s` without a change it logs what `explain` says, asked on the event loop, as an error; and
    where each thread is as information, which goes to the run's log file alone, whatever the file's level.
    Then again after twice as long, and so on. `explain` gives no line where nothing is to be done.
    """

    def __init__(self, progress: Callable[[], int], explain: Callable[[], list[str]], stall_s: float) -> None:
        self._progress, self._explain, self._stall_s = progress, explain, stall_s
        self._loop = asyncio.get_running_loop()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)

    def start(self) -> None:
        """Begin to watch; with a time of 0, never."""
        if self._stall_s:
            self._thread.start()

    def stop(self) -> None:
        """End the thread, and wait for it; not on the event loop's thread, which it may wait for."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _watch(self) -> None:
        seen, since_s, report_after_s = self._progress(), time.monotonic(), self._stall_s
        while not self._stop.wait(self._stall_s / LOOKS_BEFORE_A_REPORT):
            now, still_s = self._progress(), time.monotonic() - since_s
            if now != seen:
                seen, since_s, report_after_s = now, time.monotonic(), self._stall_s
            elif still_s >= report_after_s:
                report_after_s *= 2
                if (lines := self._ask()) and not self._stop.is_set():
                    log.error("nothing has got on for %.0f s\n%s", still_s, "\n".join(lines))
                    stacks_log.info("where each thread is:\n%s", stacks())

    def _ask(self) -> list[str]:
        answer: concurrent.futures.Future[list[str]] = concurrent.futures.Future()
        try:
            self._loop.call_soon_threadsafe(lambda: answer.set_result(self._explain()))
            return answer.result(ANSWER_WITHIN_S)
        except TimeoutError:
            return ["the event loop does not answer"]
        except RuntimeError:  # it is closed
            return []


def stacks() -> str:
    """Where each thread of the process is."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    return "\n".join(
        f"thread {names.get(ident, ident)}:\n{''.join(traceback.format_stack(frame)).rstrip()}"
        for ident, frame in sys._current_frames().items()
    )
