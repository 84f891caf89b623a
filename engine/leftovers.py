"""Temporary files of processes that were killed: removed by the next run, which tells in its log."""

import logging
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from config import Config
from db import History, interrupted_outputs, unfinished_proofs
from engine.catalog import derived_files
from engine.outputs import all_temporary_files, proof_folder, temporary_files, usual_folder
from groth16.temporary import remove_leftovers

log = logging.getLogger("cuzk.engine")

MOST_PROOFS = 1000  # whose folders are looked at
MOST_RUNS = 5
UNRECORDED = timedelta(minutes=1)  # before a run's end, as far as that is recorded


def clean_up(config: Config, history: History) -> None:
    """Remove what killed runs left beside development keys and derived files, and of unfinished proofs."""
    srs = config.srs
    removed = remove_leftovers(srs.param_cache)
    removed += remove_leftovers(derived_files(srs.param_cache, srs.derived_limit).folder)
    for proof in unfinished_proofs(history, MOST_PROOFS, usual_folder):
        folder = proof_folder(proof.output, proof.name)
        removed += _removed(temporary_files(folder, proof.proof_id)) + remove_leftovers(folder)
    for output, ended_at in interrupted_outputs(history, MOST_RUNS, usual_folder):
        for folder in _last_written(output, ended_at):
            removed += _removed(all_temporary_files(folder)) + remove_leftovers(folder)
    if removed:
        log.info("removed %d temporary files that killed runs had left, such as %s", len(removed), removed[0])


def _last_written(output: Path, ended_at: datetime) -> list[Path]:
    """Of proofs that a run began in its last moments, of which it may have written no row any more."""
    with suppress(OSError):  # the folder may be gone
        return [folder for folder in output.iterdir() if _changed_at(folder) > ended_at - UNRECORDED]
    return []


def _changed_at(folder: Path) -> datetime:
    return datetime.fromtimestamp(folder.stat().st_mtime, UTC)


def _removed(paths: list[Path]) -> list[Path]:
    for path in paths:
        path.unlink(missing_ok=True)
    return paths
