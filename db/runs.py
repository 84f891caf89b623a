"""Which runs there are: the newest with their sums, and the one that a person means by an id's beginning."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Double, Select, String, cast, func, select, type_coerce

from db.errors import HistoryError
from db.filters import EVERYTHING, Filter
from db.history import History
from db.models import Proof, Run

ENDED = ("succeeded", "failed", "cancelled")
"""How a proof ends that was not left behind by its process."""


@dataclass(frozen=True)
class RunSummary:
    """A run, how many proofs were asked for, how many of them succeeded, and the seconds that they took.

    `seconds` are from the first submission to the end of the last that ended, well or not; None where none
    did. They leave out what comes before and after: opening the engine, and closing it.
    """

    run: Run
    proof_count: int
    succeeded_count: int
    seconds: float | None

    @property
    def seconds_a_proof(self) -> float | None:
        """Over the proofs that succeeded."""
        if self.seconds is None or not self.succeeded_count:
            return None
        return self.seconds / self.succeeded_count


def list_runs(history: History, limit: int = 20, where: Filter = EVERYTHING) -> list[RunSummary]:
    """The newest runs, the newest first."""
    newest = select(Run).order_by(Run.started_at.desc(), Run.id.desc()).limit(limit)
    with history.read() as session:
        runs = session.scalars(newest.where(*where.of_listed_runs())).all()
        rows = session.execute(_sums([run.id for run in runs])).all()
    sums = {run_id: (begun, good, seconds) for run_id, begun, good, seconds in rows}
    return [_summary(run, *sums.get(run.id, (0, 0, None))) for run in runs]


def _sums(run_ids: Sequence[str]) -> Select[str, int, int, float | None]:
    """By run: its proofs so far, those that succeeded, and the seconds as in RunSummary."""
    good = Proof.state == "succeeded"
    seconds = func.max(Proof.ended_s).filter(Proof.state.in_(ENDED)) - func.min(Proof.submitted_s)
    columns = (Proof.run_id, func.count(), func.count().filter(good), type_coerce(seconds, Double))
    return select(*columns).where(Proof.run_id.in_(run_ids)).group_by(Proof.run_id)


def _summary(run: Run, begun: int, succeeded: int, seconds: float | None) -> RunSummary:
    return RunSummary(run, run.proof_count or begun, succeeded, seconds)


def find_run(history: History, id_or_prefix: str) -> Run:
    """The run with that id, or the only one whose id begins so. Raises HistoryError for none or several."""
    prefix = id_or_prefix.strip().lower()
    if not prefix:
        raise HistoryError(f"{history.address}: run {id_or_prefix!r}: expected a run's id; list the runs")
    with history.read() as session:
        found = session.scalars(
            select(Run).where(cast(Run.id, String).startswith(prefix, autoescape=True)).limit(2)
        ).all()
    if len(found) == 1:
        return found[0]
    problem = (
        "more than one run begins so; give more of the id"
        if found
        else "no run begins so; `cuzk history` lists them"
    )
    raise HistoryError(f"{history.address}: run {id_or_prefix!r}: {problem}")


def circuits_proved(history: History, run_id: str) -> set[str]:
    """The circuits of which a proof succeeded in the run."""
    proved = select(Proof.circuit).where(Proof.run_id == run_id, Proof.state == "succeeded").distinct()
    with history.read() as session:
        return set(session.scalars(proved).all())
