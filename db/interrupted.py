"""Runs whose process died without a word: closed by whoever opens the history next on that host."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import Connection, Engine, func, select, update

from db.connect import write_transaction
from db.hiding import hidden_host
from db.log_models import MemorySample, PolicyEvent
from db.models import Partition, Proof, Run, Stage
from db.process import host_name, is_alive

_OPEN = ("waiting", "running")
_COARSE_S = 2.0  # a file's time may be that much too early


def close_interrupted(engine: Engine) -> list[str]:
    """Mark this host's running runs as interrupted whose process is gone, with what was open in them.

    A real run ends at the last moment of which anything was recorded. Returns the ids of the runs.
    """
    running = select(Run.id, Run.pid, Run.process_started_at).where(
        Run.state == "running", Run.host.in_((host_name(), hidden_host(host_name())))
    )
    with engine.connect() as connection:
        rows = connection.execute(running).all()
    gone = [run_id for run_id, pid, started_at in rows if not is_alive(pid, started_at)]
    if gone:
        with write_transaction(engine) as connection:
            return [run_id for run_id in gone if _close(connection, run_id)]
    return []


def _close(connection: Connection, run_id: str) -> bool:
    run = select(Run.source, Run.started_at).where(Run.id == run_id, Run.state == "running")
    row = connection.execute(run.with_for_update()).one_or_none()
    if row is None:
        return False  # another process closed it
    source, started_at = row
    last_s = _last_recorded_s(connection, run_id)
    now = datetime.now(UTC)
    ended_at = min(started_at + timedelta(seconds=last_s), now) if source == "real" else now
    proofs = select(Proof.id).where(Proof.run_id == run_id)
    open_proofs = update(Proof).where(Proof.run_id == run_id, Proof.state.in_(_OPEN))
    ended_s = func.coalesce(Proof.ended_s, last_s)
    published = _published(connection, run_id, started_at)
    connection.execute(open_proofs.where(Proof.id.in_(published)).values(state="succeeded", ended_s=ended_s))
    still_open = update(Partition).where(Partition.state.in_(_OPEN))
    # The end of a proof is noted before its partitions' are committed, see HistoryWriter.
    succeeded = still_open.where(Partition.proof_id.in_(proofs.where(Proof.state == "succeeded")))
    connection.execute(succeeded.values(state="succeeded"))
    connection.execute(still_open.where(Partition.proof_id.in_(proofs)).values(state="interrupted"))
    connection.execute(open_proofs.values(state="interrupted", proof_path=None, ended_s=ended_s))
    connection.execute(update(Run).where(Run.id == run_id).values(state="interrupted", ended_at=ended_at))
    return True


def _published(connection: Connection, run_id: str, started_at: datetime) -> list[str]:
    """The open proofs whose files all have their names: the last to get it is there, and of this run."""
    about_to_end = (Proof.run_id == run_id, Proof.state.in_(_OPEN), Proof.proof_path.is_not(None))
    rows = connection.execute(select(Proof.id, Proof.proof_path).where(*about_to_end)).all()
    return [proof_id for proof_id, path in rows if path and _is_written_since(Path(path), started_at)]


def _is_written_since(path: Path, moment: datetime) -> bool:
    with suppress(OSError):
        return path.stat().st_mtime >= moment.timestamp() - _COARSE_S
    return False


def _last_recorded_s(connection: Connection, run_id: str) -> float:
    stages = select(func.max(func.coalesce(Stage.ended_s, Stage.started_s))).join(
        Partition, Stage.partition_id == Partition.id
    )
    times = [
        select(func.max(MemorySample.at_s)).where(MemorySample.run_id == run_id),
        select(func.max(PolicyEvent.at_s)).where(PolicyEvent.run_id == run_id),
        select(func.max(func.coalesce(Proof.ended_s, Proof.submitted_s))).where(Proof.run_id == run_id),
        stages.join(Proof, Partition.proof_id == Proof.id).where(Proof.run_id == run_id),
    ]
    return max((connection.execute(time).scalar() or 0.0) for time in times)
