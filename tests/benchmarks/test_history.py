"""The history's benchmarks make rows like real ones, and count what is there."""

from pathlib import Path

import pytest

from benchmarks.history.batches import record_simulated
from benchmarks.history.generate import PARTITIONS_A_RUN, generate
from db import list_runs, open_history, policy_events, stage_statistics
from db.groups import groups
from db.summaries import summaries_of


def test_generated_sums_are_those_of_the_generated_rows(tmp_path: Path) -> None:
    with open_history(tmp_path / "h.db") as history:
        generate(history, PARTITIONS_A_RUN, lambda _: None)
        (summary,) = list_runs(history)
        assert (summary.proof_count, summary.run.packed) == (PARTITIONS_A_RUN, True)
        with history.read() as session:
            made = summaries_of(session.connection(), summary.run.id)
        kept = groups(history, waits=True)
        assert {(row["device"], row["state"]): row["partition_count"] for row in made} == {
            (group.device, group.state): group.partition_count for group in kept
        }
        for row in made:
            (group,) = [each for each in kept if (each.device, each.state) == (row["device"], row["state"])]
            assert row["waits_s"] == pytest.approx(group.waits_s, rel=1e-5)
        assert {row.stage for row in stage_statistics(history)} >= {"wait", "prove", "measured_bytes"}


def test_a_simulated_batch_is_recorded_and_packed(tmp_path: Path) -> None:
    with open_history(tmp_path / "h.db") as history:
        run_id = record_simulated(history, 5)
        assert list_runs(history)[0].run.packed
        assert len(policy_events(history, run_id)) > 15
