"""Runs of the history that a profile is learned from, or compared with."""

from collections.abc import Sequence

from db import History, find_run, list_runs
from sim.errors import SimError
from sim.replay import RecordedRun, read_recorded
from sim.requests import requests_of

SEARCHED = 200


def read_examples(history: History, runs: Sequence[str], newest: int) -> list[RecordedRun]:
    """The runs by id or its beginning; without any, the newest real ones in which all went well.

    Raises HistoryError for a run that is not there, SimError for one that is no example, such as a simulated
    one, or if there is none.
    """
    if runs:
        named = {row.id: row for row in (find_run(history, run) for run in runs)}  # each once, not twice
        for row in named.values():
            if row.source == "sim":
                raise SimError(
                    f"run {row.id} was simulated, and tells only what it was simulated with; "
                    "choose a real one of `cuzk history list --source real`"
                )
        return [_example(history, id_) for id_ in named]
    found: list[RecordedRun] = []
    why_not = ""  # of the newest
    for summary in list_runs(history, SEARCHED):
        if summary.run.source == "real" and summary.run.state == "succeeded" and len(found) < newest:
            try:
                found.append(_example(history, summary.run.id))
            except SimError as error:  # such as one that was cancelled in part
                why_not = why_not or f" ({error})"
    if not found:
        raise SimError(
            f"the history has no real run in which all went well{why_not}; prove a batch, then try again"
        )
    return found


def _example(history: History, run_id: str) -> RecordedRun:
    recorded = read_recorded(history, run_id)
    requests_of(recorded.log, run_id)
    return recorded
