"""With names hidden, no row tells a path or the host, and everything else works as before."""

from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import select

from db import Filter, Proof, Run, Settings, list_runs, open_history
from db.hiding import hidden_host, hidden_path
from db.process import host_name
from db.tables import METADATA

LONG_AGO = datetime(2024, 1, 1, tzinfo=UTC)


def test_no_path_and_no_host_is_recorded(tmp_path: Path) -> None:
    secret = "/home/me/secret"
    settings = Settings.of(
        {"srs": {"cache": f"{secret}/params"}, "ledger": f"memory-{host_name()}.json", "n": 1}
    )
    with open_history(tmp_path / "h.db", hide=("paths", "hosts")) as history:
        with history.writer() as writer:
            run = Run(
                source="real", name="merkle ×3", code_version="1", output_path=f"{secret}/proofs",
                config_id=settings.id, started_at=LONG_AGO, process_started_at=LONG_AGO,
            )  # fmt: skip
            proof = Proof(run_id=run.id, name="a/b ×3", circuit="merkle", submitted_s=0.0)
            writer.insert(settings, run, proof)
            writer.update(Proof, proof.id, state="failed", error=f"p: {secret}/x: not read: 1/2 (~/y)")
        assert writer.error is None
        with history.read() as session:
            rows = [session.execute(select(table)).all() for table in METADATA.tables.values()]
            error = session.scalars(select(Proof.error)).one()
            kept = session.scalars(select(Settings.settings)).one()
        text = str(rows)
        assert secret not in text
        assert "~/y" not in text
        assert host_name() not in text.replace(hidden_host(host_name()), "")
        assert error == f"p: {hidden_path(f'{secret}/x')}: not read: 1/2 ({hidden_path('~/y')})"
        assert kept["n"] == 1
        assert [each.run.name for each in list_runs(history, where=Filter(host=host_name()))] == ["merkle ×3"]
        assert history.close_interrupted() == [run.id]


def test_nothing_is_hidden_unasked(tmp_path: Path) -> None:
    with open_history(tmp_path / "h.db") as history:
        with history.writer() as writer:
            writer.insert(run := Run(source="real", name="x", code_version="1", output_path="/a/b"))
        assert (list_runs(history)[0].run.output_path, run.host) == ("/a/b", host_name())
