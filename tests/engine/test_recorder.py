"""A run's rows: every partition's time is accounted for, and the policy's log is whole."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from engine import CircuitSpec, Engine, ProofFailed, ProofRequest, RunLabels
from policy import BudgetPolicy, Limits
from policy.codec import decode_event, decode_limits, encode_decision
from tests.engine.support import CONFIG, Rows, limits_for, run


def prove(spec: CircuitSpec, limits: Limits, rows: Rows, folder: Path) -> None:
    """Two proofs with two partitions and one, the second of which fails if the witness is wrong."""

    async def steps() -> None:
        labels = RunLabels("two proofs", "1.2.3", "a flow run", str(folder))
        async with Engine(CONFIG, limits, rows, "a run", labels, sample_interval_s=0.01) as running:
            ids = [
                running.submit(ProofRequest(spec, f"proof {number}", folder / str(number), partitions=number))
                for number in (2, 1)
            ]
            for each in ids:
                try:
                    await running.result(each)
                except ProofFailed:
                    continue

    run(steps())


def test_a_partitions_stages_follow_each_other_without_gaps(multiplier: CircuitSpec, tmp_path: Path) -> None:
    rows = Rows()
    prove(multiplier, limits_for(multiplier, 1), rows, tmp_path)
    assert len(rows.tables["partition"]) == 3
    for partition in rows.tables["partition"]:
        stages = [stage for stage in rows.tables["stage"] if stage["partition_id"] == partition["id"]]
        names = [stage["name"] for stage in stages]
        assert names == ["wait", "load", "wait", "synthesize", "queue", "prove", "verify"]
        assert all(before["ended_s"] == after["started_s"] for before, after in pairwise(stages))
        (proof,) = [each for each in rows.tables["proof"] if each["id"] == partition["proof_id"]]
        assert stages[0]["started_s"] == proof["submitted_s"]
        assert stages[-1]["ended_s"] <= proof["ended_s"]
        assert partition["reserved_bytes"] >= partition["measured_bytes"] > 0
        assert partition["device"] == "cpu"


def test_a_partition_that_waited_says_for_what(multiplier: CircuitSpec, tmp_path: Path) -> None:
    rows = Rows()
    prove(multiplier, limits_for(multiplier, 1), rows, tmp_path)
    first, *others = (partition["wait_cause"] for partition in rows.tables["partition"])
    assert first is None
    assert all(cause.startswith("waits for memory: it needs ") for cause in others)


def test_a_run_carries_what_it_depended_on_and_no_secret(multiplier: CircuitSpec, tmp_path: Path) -> None:
    inputs = tmp_path / "secret.json"
    inputs.write_text(json.dumps({"a": "123456789012345678901", "b": "98765432109876543210"}))
    rows, limits = Rows(), limits_for(multiplier, 1)
    prove(replace(multiplier, inputs=inputs), limits, rows, tmp_path)
    (row,) = rows.tables["run"]
    assert (row["id"], row["name"], row["code_version"]) == ("a run", "two proofs", "1.2.3")
    assert (row["flow_run_id"], row["output_path"]) == ("a flow run", str(tmp_path))
    assert decode_limits(row["policy_limits"]) == limits
    ((machine,), (settings,)) = rows.tables["machine"], rows.tables["config"]
    assert (row["machine_id"], row["config_id"]) == (machine["id"], settings["id"])
    assert settings["settings"] == CONFIG.snapshot() | {"policy": "budget"}
    assert machine["description"]["cores"] >= 1
    assert row["peak_rss_bytes"] >= max(sample["rss_bytes"] for sample in rows.tables["memory_sample"])
    assert max(sample["reserved_bytes"] for sample in rows.tables["memory_sample"]) <= limits.budget_bytes
    text = str(rows.tables)
    assert "123456789012345678901" not in text
    assert "98765432109876543210" not in text


@pytest.mark.parametrize("wrong", [False, True])
def test_the_log_repeated_to_a_new_policy_gives_the_same_decisions(
    multiplier: CircuitSpec, wrong_witness: CircuitSpec, tmp_path: Path, wrong: bool
) -> None:
    rows, spec = Rows(), wrong_witness if wrong else multiplier
    limits = limits_for(spec, 2)
    prove(spec, limits, rows, tmp_path)
    log = json.loads(json.dumps(rows.tables["policy_event"]))  # as a database gives it back
    assert [entry["sequence"] for entry in log] == list(range(len(log)))
    again = BudgetPolicy(limits)
    for entry in log:
        decisions = again.handle(decode_event(entry["event"]), entry["at_s"])
        assert [encode_decision(decision) for decision in decisions] == entry["decisions"]
    assert again.idle
