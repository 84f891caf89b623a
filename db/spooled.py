"""A run that is not in the database yet, since it was away: read from the spool, which stays as it is."""

import tempfile
from pathlib import Path

from db.history import History, open_history
from db.run_detail import RunDetail, show_run
from db.spool import copy_into


def spooled_run(history: History, run_id: str) -> RunDetail:
    """All of a run whose records wait in the history's spool.

    Raises HistoryError where they are not all there, as when the database went away in the middle of the run.
    """
    with (
        tempfile.TemporaryDirectory() as folder,
        open_history(Path(folder) / "history.db") as read,
    ):
        copy_into(read.engine, history.spool)
        return show_run(read, run_id)
