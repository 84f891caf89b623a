"""What killed runs of this host have not finished, and where their files were to go."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import select

from db.history import History
from db.models import Proof, Run
from db.process import host_name


@dataclass(frozen=True)
class Unfinished:
    """One proof; `output`: the folder of its run's proofs."""

    proof_id: str
    name: str
    output: Path


def unfinished_proofs(history: History, most: int) -> list[Unfinished]:
    """Those of interrupted runs, at most so many, of the latest runs first. Raises HistoryError."""
    query = (
        select(Proof.id, Proof.name, Run.output_path)
        .join(Run, Proof.run_id == Run.id)
        .where(Run.state == "interrupted", Run.host == host_name(), Run.output_path.startswith("/"))
        .where(Proof.state == "interrupted")
        .order_by(Run.started_at.desc(), Proof.id)
        .limit(most)
    )
    with history.read() as session:
        rows = session.execute(query).all()
    return [Unfinished(proof_id, name, Path(output)) for proof_id, name, output in rows if output]


def interrupted_outputs(history: History, most: int) -> list[tuple[Path, datetime]]:
    """The folders of interrupted runs, at most so many, of the latest first, and when those ended.

    Without folders that a run writes to now. Raises HistoryError.
    """
    in_use = select(Run.output_path).where(Run.state == "running", Run.output_path.is_not(None))
    query = (
        select(Run.output_path, Run.ended_at)
        .where(Run.state == "interrupted", Run.host == host_name(), Run.output_path.startswith("/"))
        .where(Run.output_path.not_in(in_use))
        .order_by(Run.started_at.desc())
        .limit(most)
    )
    with history.read() as session:
        rows = session.execute(query).all()
    return [(Path(output), ended_at) for output, ended_at in rows if output and ended_at]
