"""How long a proof of a batch takes by the clock, so that it is known how much a task should show."""

import logging
import time
from collections.abc import Callable

from db import Filter, History, HistoryError, list_runs

log = logging.getLogger("cuzk.flows")


class Pace:
    """usual_s: of an earlier batch, which holds until a proof of this one has ended; None: there was none."""

    def __init__(self, usual_s: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._usual_s, self._clock = usual_s, clock
        self._begun_s: float | None = None
        self._ended = 0

    def submitted(self) -> None:
        """One more is under way; the first starts the clock."""
        if self._begun_s is None:
            self._begun_s = self._clock()

    def ended(self) -> None:
        """One more is made, or has failed."""
        self._ended += 1

    @property
    def proof_s(self) -> float | None:
        """The batch's time over its proofs, of which several may run at once; None where nothing is known."""
        if self._begun_s is None or not self._ended:
            return self._usual_s
        return (self._clock() - self._begun_s) / self._ended


def usual_proof_s(history: History, circuit: str, device: str) -> float | None:
    """What a proof took in the newest batch of the circuit on the device; None where that is not known."""
    where = Filter(circuit=circuit, source="real", state="succeeded", device=device)
    try:
        runs = list_runs(history, 1, where)
    except HistoryError as error:  # proofs are made all the same
        log.warning("how long a proof takes is not known beforehand: %s", error)
        return None
    return runs[0].seconds_a_proof if runs else None
