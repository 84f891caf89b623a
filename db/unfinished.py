"""Proofs that killed runs of this host have not finished, and where their files were to go."""

from dataclasses import dataclass
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
