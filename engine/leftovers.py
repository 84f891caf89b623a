"""Temporary files of processes that were killed: removed by the next run, which tells in its log."""

import logging
from pathlib import Path

from config import Config
from db import History, unfinished_proofs
from engine.catalog import derived_files
from engine.outputs import proof_folder, temporary_files
from groth16.temporary import remove_leftovers

log = logging.getLogger("cuzk.engine")

MOST_PROOFS = 1000  # whose folders are looked at


def clean_up(config: Config, history: History) -> None:
    """Remove what killed runs left beside development keys and derived files, and of unfinished proofs."""
    srs = config.srs
    removed = remove_leftovers(srs.param_cache)
    removed += remove_leftovers(derived_files(srs.param_cache, srs.derived_limit).folder)
    for proof in unfinished_proofs(history, MOST_PROOFS):
        folder = proof_folder(proof.output, proof.name)
        removed += _removed(temporary_files(folder, proof.proof_id)) + remove_leftovers(folder)
    if removed:
        log.info("removed %d temporary files that killed runs had left, such as %s", len(removed), removed[0])


def _removed(paths: list[Path]) -> list[Path]:
    for path in paths:
        path.unlink(missing_ok=True)
    return paths
