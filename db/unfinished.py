"""What killed runs of this host have not finished, and where their files were to go."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import ColumnElement, select

from db.hiding import hidden_host, hidden_path
from db.history import History
from db.models import Proof, Run
from db.process import host_name

UsualFolder = Callable[[str], Path]
"""Where the proofs of the run with that id go, unless another folder is named."""


@dataclass(frozen=True)
class Unfinished:
    """One proof; `output`: the folder of its run's proofs."""

    proof_id: str
    name: str
    output: Path


def unfinished_proofs(history: History, most: int, usual: UsualFolder) -> list[Unfinished]:
    """Those of interrupted runs, at most so many, of the latest runs first. Raises HistoryError."""
    query = (
        select(Proof.id, Proof.name, Run.id, Run.output_path)
        .join(Run, Proof.run_id == Run.id)
        .where(*_interrupted_here(), Proof.state == "interrupted")
        .order_by(Run.started_at.desc(), Proof.id)
        .limit(most)
    )
    with history.read() as session:
        rows = session.execute(query).all()
    found = [(proof_id, name, _folder(recorded, usual(run_id))) for proof_id, name, run_id, recorded in rows]
    return [Unfinished(proof_id, name, output) for proof_id, name, output in found if output]


def interrupted_outputs(history: History, most: int, usual: UsualFolder) -> list[tuple[Path, datetime]]:
    """The folders of interrupted runs, at most so many, of the latest first, and when those ended.

    Without folders that a run writes to now. Raises HistoryError.
    """
    in_use = select(Run.output_path).where(Run.state == "running", Run.output_path.is_not(None))
    query = (
        select(Run.id, Run.output_path, Run.ended_at)
        .where(*_interrupted_here(), Run.output_path.not_in(in_use))
        .order_by(Run.started_at.desc())
        .limit(most)
    )
    with history.read() as session:
        rows = session.execute(query).all()
    found = [(_folder(recorded, usual(run_id)), ended_at) for run_id, recorded, ended_at in rows]
    return [(output, ended_at) for output, ended_at in found if output and ended_at]


def _interrupted_here() -> list[ColumnElement[bool]]:
    names = (host_name(), hidden_host(host_name()))
    return [Run.state == "interrupted", Run.host.in_(names), Run.output_path.is_not(None)]


def _folder(recorded: str | None, usual: Path) -> Path | None:
    """The folder recorded; where only its digest is, the usual one if that is its digest."""
    if recorded == hidden_path(str(usual)):
        return usual
    return Path(recorded) if recorded and recorded.startswith("/") else None
