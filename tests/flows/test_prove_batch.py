"""Batches of the smallest circuit with the real engine, on a real Prefect server that is started for them.

In the order of a user's day: a first batch is killed, the next one works, and then a server shows both.
"""

import asyncio
import json
import os
import re
import signal
import socket
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from prefect.client.schemas.objects import FlowRun
from prefect.settings import PREFECT_API_URL, temporary_settings
from prefect.states import Crashed

from config import ConfigError, load_config
from db import Partition, Proof, Run, list_runs, open_history, show_run
from db import ask as ask_sql
from engine.ledger import Ledger
from examples import CIRCUITS
from flows.ends import closing
from flows.ends.left_open import close_left_open
from flows.launch import run_batch
from flows.parameters.batch import BatchParameters
from flows.parameters.resume import taken_up
from flows.prove_batch import prove_batch
from flows.server.chosen import API_URL, Server, prefect_server
from flows.server.local import LocalServer, running_server
from flows.summary import BatchFailed
from tests.flows.shown import all_final, artifacts, names_of_tasks, states_of_tasks
from tests.flows.support import ask, eventually, read_until, silent, start_batch, task_runs

STAGES = ("synthesize", "prove", "verify")


@dataclass(frozen=True)
class Batch:
    """A batch that has ended, and the server that it had."""

    run_id: str
    flow_run_id: str
    output: Path
    lines: list[str]
    server: LocalServer


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def killed(home: Path) -> LocalServer:
    """The server of a run that was killed while it proved."""
    process = start_batch(home, circuit="multiplier", count=10_000, budget="1GiB")
    read_until(process, "proved in")
    server = running_server(home / "prefect")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert server is not None
    return server


@pytest.fixture(scope="module")
def finished(home: Path, killed: LocalServer) -> Batch:  # noqa: ARG001 it comes first
    """The next run: two proofs of two partitions."""
    process = start_batch(home, circuit="multiplier", count=2, concurrency=2, partitions=2, budget="1GiB")
    read_until(process, "Prefect UI")
    server = running_server(home / "prefect")
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert server is not None
    assert err == ""  # logs are for the UI
    *lines, done = out.splitlines()
    _, run_id, flow_run_id, output = done.split(" ", 3)
    return Batch(run_id, flow_run_id, Path(output), lines, server)


@pytest.fixture(scope="module")
def server(home: Path, finished: Batch) -> Iterator[Server]:  # noqa: ARG001 it comes first
    """A server on the same database, for what follows in this process."""
    with prefect_server(home, silent) as started, pytest.MonkeyPatch.context() as patch:
        started.wait_ready(silent)
        patch.setenv("CUZK_HOME", str(home))
        patch.delenv(API_URL)  # so that batches join it as a local one
        with temporary_settings({PREFECT_API_URL: started.api_url}):
            yield started


def test_no_server_outlives_a_killed_run(killed: LocalServer) -> None:
    assert eventually(lambda: not killed.is_alive())


def test_no_server_outlives_a_finished_run(finished: Batch) -> None:
    assert not finished.server.is_alive()


def test_the_batch_says_how_it_gets_on(finished: Batch) -> None:
    proved = [line.split(" proved in ")[0] for line in finished.lines if " proved in " in line]
    assert sorted(proved) == ["multiplier #1", "multiplier #2"]
    assert any("(2 of 2)" in line for line in finished.lines)


def test_the_history_has_both_runs_and_the_flow_run(home: Path, finished: Batch) -> None:
    with open_history(home / "history.db") as history:
        assert [summary.run.state for summary in list_runs(history)[-2:]] == ["succeeded", "interrupted"]
        run = show_run(history, finished.run_id).run
    assert (run.name, run.flow_run_id) == ("multiplier ×2", finished.flow_run_id)
    assert run.output_path == str(finished.output)
    assert len(list(finished.output.glob("multiplier-*/proof_*.json"))) == 4


def test_no_temporary_file_is_left_of_either(home: Path, finished: Batch) -> None:
    assert finished.output.parent == home / "proofs"
    assert not [*home.glob("proofs/*/*/.*"), *home.glob("params/.*"), *home.glob("params/derived/.*")]


def test_the_ui_is_told_where_the_api_is(server: Server) -> None:
    with urllib.request.urlopen(f"{server.ui_url}/ui-settings") as answer:
        assert json.load(answer)["api_url"] == server.api_url


def test_every_task_is_recorded_completed_and_named(server: Server, finished: Batch) -> None:
    runs = task_runs(server.api_url, finished.flow_run_id)
    expected = []
    for proof in ("multiplier #1", "multiplier #2"):
        for stage in ("admit", "synthesize", "prove", "verify"):
            expected += [f"{stage} {proof} [{part}/2]" for part in (1, 2)]
    names = [run["name"] for run in runs]
    loads = [name for name in names if name.startswith("load ")]
    assert loads, "the first to be admitted had to load"
    assert sorted(names) == sorted(expected + loads)
    assert {run["state_type"] for run in runs} == {"COMPLETED"}
    assert not any(run["tags"] for run in runs), "each tag of a task costs a question to the server"


def test_the_tasks_are_a_dag(server: Server, finished: Batch) -> None:
    runs = task_runs(server.api_url, finished.flow_run_id)
    names = {run["id"]: run["name"] for run in runs}
    edges = {
        run["name"]: sorted(names[each["id"]] for inputs in run["task_inputs"].values() for each in inputs)
        for run in runs
    }
    for one in ("multiplier #1 [1/2]", "multiplier #2 [2/2]"):
        loads = [f"load {one}"] if f"load {one}" in edges else []
        for before, after in pairwise([f"admit {one}", *loads, *(f"{stage} {one}" for stage in STAGES)]):
            assert edges[after] == [before]
    assert edges["admit multiplier #1 [1/2]"] == []


def test_the_history_names_the_task_runs(server: Server, finished: Batch, home: Path) -> None:
    with open_history(home / "history.db") as history:
        shown_stages = "SELECT stage, task_run_id FROM history_stages WHERE task_run_id IS NOT NULL"
        rows = ask_sql(history, shown_stages).rows
    names = {run["id"]: run["name"].split()[0] for run in task_runs(server.api_url, finished.flow_run_id)}
    shown = [(stage, task_run_id) for stage, task_run_id in rows if task_run_id in names]
    assert {stage for stage, _ in shown} == {"load", "synthesize", "prove", "verify"}
    assert all(names[task_run_id] == stage for stage, task_run_id in shown)


def test_a_task_is_as_long_as_its_stage(server: Server, finished: Batch, home: Path) -> None:
    """Its bar has the engine's own times, also where Prefect was late to begin the task."""
    with open_history(home / "history.db") as history:
        proofs = show_run(history, finished.run_id).proofs
    tasks = task_runs(server.api_url, finished.flow_run_id)
    for stage in ("load", "synthesize", "prove", "verify"):
        bars = [task for task in tasks if task["name"].startswith(f"{stage} ")]
        task_s = sum((_time(task["end_time"]) - _time(task["start_time"])).total_seconds() for task in bars)
        stage_s = sum(getattr(proof.seconds, f"{stage}_s") for proof in proofs)
        assert task_s == pytest.approx(stage_s, abs=0.01), stage


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def test_the_flow_has_a_name_and_a_table_of_the_proofs(server: Server, finished: Batch) -> None:
    (flow_run,) = ask(server.api_url, "flow_runs/filter", flow_runs={"id": {"any_": [finished.flow_run_id]}})
    assert (flow_run["name"], flow_run["state_type"]) == ("multiplier ×2", "COMPLETED")
    found = {artifact["key"]: artifact for artifact in artifacts(server, finished.flow_run_id)}
    artifact, rows = found["proofs"], json.loads(found["proofs"]["data"])
    assert [(row["proof"], row["state"]) for row in rows] == [
        ("multiplier #1", "proved"),
        ("multiplier #2", "proved"),
    ]
    assert artifact["description"] == "2 of 2 proved"
    assert "data:image/png;base64," in found["report"]["data"]
    assert f"cuzk history show {finished.run_id}" in found["report"]["data"]
    assert (finished.output / "report.html").is_file()
    assert flow_run["state"]["message"] == "2 of 2 proved"
    assert {"cuzk", "multiplier", socket.gethostname()} <= set(flow_run["tags"])


def test_logs_tell_of_the_stages(server: Server, finished: Batch) -> None:
    logs = ask(server.api_url, "logs/filter", logs={"flow_run_id": {"any_": [finished.flow_run_id]}})
    messages = " | ".join(log["message"] for log in logs)
    assert "Finished in state Completed()" not in messages
    for words in ("multiplier #2 proved in", "domain"):
        assert words in messages


def test_the_next_batch_closes_what_the_killed_one_left_open(
    server: Server, finished: Batch, home: Path
) -> None:
    assert finished
    with open_history(home / "history.db") as history:
        dead = list_runs(history)[-1].run
    assert dead.flow_run_id is not None
    (flow_run,) = ask(server.api_url, "flow_runs/filter", flow_runs={"id": {"any_": [dead.flow_run_id]}})
    assert (flow_run["state_type"], flow_run["state"]["message"]) == ("CRASHED", "its process has died")
    still_open = {"state": {"type": {"any_": ["PENDING", "RUNNING"]}}}
    of_run = {"id": {"any_": [dead.flow_run_id]}}
    assert ask(server.api_url, "task_runs/filter", flow_runs=of_run, task_runs=still_open) == []


def test_a_killed_run_that_somebody_has_retried_is_left_alone_and_so_are_its_tasks(
    server: Server, finished: Batch, home: Path
) -> None:
    """One whose process began after the run that died, and one that began before it."""
    task = {"task_key": "prove", "dynamic_key": "0", "state": {"type": "RUNNING"}}
    ids, died = [], [datetime.now(UTC)]
    for _ in range(2):
        run = ask(server.api_url, "flow_runs/", flow_id=flow_of(server, finished), state={"type": "PENDING"})
        ask(server.api_url, f"flow_runs/{run['id']}/set_state", state={"type": "RUNNING"})
        ask(server.api_url, "task_runs/", flow_run_id=run["id"], **task)
        ids.append(run["id"])
    died.append(datetime.now(UTC))
    with open_history(home / "history.db") as history, history.writer() as writer:
        for flow_run_id, started_at in zip(ids, died, strict=True):
            of_run = Run(source="real", state="interrupted", name="multiplier ×1", code_version="1")
            of_run.started_at, of_run.flow_run_id = started_at, flow_run_id
            writer.insert(of_run)
        writer.flush()
        asyncio.run(closing.close_dead(history))
    for flow_run_id, state in zip(ids, ("RUNNING", "CRASHED"), strict=True):
        (found,) = ask(server.api_url, "flow_runs/filter", flow_runs={"id": {"any_": [flow_run_id]}})
        (of_it,) = task_runs(server.api_url, flow_run_id)
        assert (found["state_type"], of_it["state_type"]) == (state, state)


def test_the_hook_closes_the_tasks_of_a_process_that_is_gone(
    server: Server, finished: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(closing, "RECORDED_WITHIN_S", 0.0)
    flow_run = ask(server.api_url, "flow_runs/", flow_id=flow_of(server, finished), state={"type": "CRASHED"})
    task = {"task_key": "prove", "dynamic_key": "0", "state": {"type": "RUNNING"}}
    ask(server.api_url, "task_runs/", flow_run_id=flow_run["id"], **task)
    run = FlowRun(id=flow_run["id"], flow_id=flow_run["flow_id"], parameters={"parameters": {}})
    asyncio.run(closing.close_run(prove_batch, run, Crashed()))
    (task_run,) = task_runs(server.api_url, flow_run["id"])
    assert (task_run["state_type"], task_run["state"]["message"]) == ("CRASHED", "its process has died")


def test_the_next_start_closes_what_a_crashed_run_of_another_host_left_open(
    server: Server, finished: Batch
) -> None:
    """Its flow run has been ended by the automation, which cannot end its tasks."""
    crashed = {"tags": ["cuzk"], "state": {"type": "CRASHED"}}
    flow_run = ask(server.api_url, "flow_runs/", flow_id=flow_of(server, finished), **crashed)
    task = {"task_key": "prove", "dynamic_key": "0", "state": {"type": "RUNNING"}}
    ask(server.api_url, "task_runs/", flow_run_id=flow_run["id"], **task)
    said: list[str] = []
    close_left_open(server, said.append, ended_for=timedelta(0))
    (task_run,) = task_runs(server.api_url, flow_run["id"])
    assert (task_run["state_type"], task_run["state"]["message"]) == ("CRASHED", "its process has died")
    assert said == ["closed 1 tasks of runs that had crashed"]
    close_left_open(server, said.append, ended_for=timedelta(0))
    assert len(said) == 1


def flow_of(server: Server, batch: Batch) -> str:
    (flow_run,) = ask(server.api_url, "flow_runs/filter", flow_runs={"id": {"any_": [batch.flow_run_id]}})
    return str(flow_run["flow_id"])


def test_a_simulated_batch_has_the_same_tasks_and_no_proofs(server: Server, finished: Batch) -> None:
    parameters = BatchParameters(circuit="multiplier", count=2, partitions=2, budget="1GiB", mode="simulated")
    summary = run_batch(parameters, silent)
    assert summary.headline == "2 of 2 proved"
    assert [path.name for path in summary.output.iterdir()] == ["report.html"]
    flow_run_id = str(summary.flow_run_url).rsplit("/", 1)[1]
    assert eventually(lambda: all_final(server, flow_run_id))
    names, real = (
        {run["name"] for run in task_runs(server.api_url, each) if not run["name"].startswith("load ")}
        for each in (flow_run_id, finished.flow_run_id)
    )
    assert names == real
    (flow_run,) = ask(server.api_url, "flow_runs/filter", flow_runs={"id": {"any_": [flow_run_id]}})
    assert flow_run["name"] == "multiplier ×2 · simulated"


@pytest.mark.usefixtures("server")
def test_what_is_left_of_a_batch_is_proved_and_nothing_twice(finished: Batch, home: Path) -> None:
    first, second = (finished.output / f"multiplier-{number}" for number in (1, 2))
    kept = {path: path.read_bytes() for path in first.glob("proof_*.json")}
    (second / "proof_1.json").write_text("{}")
    summary = run_batch(BatchParameters(resume=finished.run_id, budget="1GiB"), silent)
    assert summary.headline == "2 of 2 proved, 1 of them before"
    assert [proof.name for proof in summary.proofs] == ["multiplier #2"]
    assert summary.output == finished.output
    assert {path: path.read_bytes() for path in kept} == kept
    assert "pi_a" in (second / "proof_1.json").read_text()
    with open_history(home / "history.db") as history:
        run = show_run(history, summary.run_id).run
        of_flow_run = show_run(history, finished.run_id).run.flow_run_id
    assert (run.name, run.proof_count) == ("multiplier ×2 · resumed", 1)
    assert taken_up(BatchParameters(resume=of_flow_run)).resume == finished.run_id
    for wrong, why in (({"circuit": "merkle"}, "proves 'multiplier', and not 'merkle'"),):
        with pytest.raises(ConfigError, match=why):
            run_batch(BatchParameters(resume=finished.run_id, **wrong), silent)  # type: ignore[arg-type]


def test_short_proofs_are_shown_in_groups_and_a_long_wait_for_memory_by_itself(
    server: Server, home: Path
) -> None:
    """Another process holds all of the budget until the wait is seen."""
    run = Run(source="real", state="succeeded", name="multiplier ×1", code_version="1")
    proof = Proof(
        run_id=run.id, name="#1", circuit="multiplier", state="succeeded", submitted_s=0.0, ended_s=0.1
    )
    with open_history(home / "history.db") as history, history.writer() as writer:
        for row in (run, proof, Partition(proof_id=proof.id, index=0, state="succeeded", device="cpu")):
            writer.insert(row)
    budget_bytes = 2**30
    other = Ledger(Path(load_config(warn=silent).memory.ledger), "another batch", budget_bytes)
    assert other.take(budget_bytes) == budget_bytes
    process = start_batch(
        home, server.api_url, circuit="multiplier", count=9, concurrency=2, budget="1GiB", device="none"
    )
    read_until(process, "for memory")
    (flow_run,) = ask(server.api_url, "flow_runs/filter", sort="START_TIME_DESC", limit=1)
    assert eventually(lambda: "admit multiplier #1" in names_of_tasks(server, flow_run["id"]))
    other.leave()
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert all(f"multiplier #{number} proved in" in out for number in range(1, 10))
    assert eventually(lambda: set(states_of_tasks(server, flow_run["id"])) == {"COMPLETED"})
    assert names_of_tasks(server, flow_run["id"]) == ["admit multiplier #1", "prove multiplier #1-#9"]
    (table,) = [each for each in artifacts(server, flow_run["id"]) if each["key"] == "proofs"]
    assert [row["state"] for row in json.loads(table["data"])] == ["proved"] * 9
    logs = ask(server.api_url, "logs/filter", logs={"flow_run_id": {"any_": [flow_run["id"]]}})
    of_tasks = " | ".join(log["message"] for log in logs if log["task_run_id"])
    assert "multiplier #1 waits for memory" in of_tasks
    assert "admitted after" in of_tasks


def test_a_batch_that_fails_fails_the_flow_and_keeps_nothing_on_disk(
    server: Server, home: Path, tmp_path: Path
) -> None:
    circuit = CIRCUITS["multiplier"]
    (tmp_path / "input.json").write_text('{"a": "6", "b": "7", "c": "1"}')
    (zkey,) = (home / "params").glob("multiplier-*.zkey")
    config = tmp_path / "cuzk.toml"
    config.write_text(
        f'[circuits.wrong]\nzkey = "{zkey}"\nwasm = "{circuit.wasm}"\ninputs = "{tmp_path}/input.json"\n'
    )
    said: list[str] = []
    with pytest.raises(BatchFailed) as failure:
        run_batch(BatchParameters(circuit="wrong", count=2, budget="1GiB", config=config), said.append)
    summary = failure.value.summary
    assert [proof.error is None for proof in summary.proofs] == [False, False]
    assert str(failure.value).startswith("0 of 2 proved, 2 failed; wrong #1: ")
    assert failure.value.__cause__ is summary.proofs[0].error

    assert summary.flow_run_url is not None
    flow_run_id = summary.flow_run_url.rsplit("/", 1)[1]
    assert eventually(lambda: all_final(server, flow_run_id))
    (flow_run,) = ask(server.api_url, "flow_runs/filter", flow_runs={"id": {"any_": [flow_run_id]}})
    assert flow_run["state_type"] == "FAILED"
    assert flow_run["state"]["message"] == str(failure.value)
    (table,) = [each for each in artifacts(server, flow_run_id) if each["key"] == "proofs"]
    first = json.loads(table["data"])[0]
    assert (first["proof"], first["state"]) == ("wrong #1", "failed")
    assert first["why"]
    logs = ask(server.api_url, "logs/filter", logs={"flow_run_id": {"any_": [flow_run_id]}})
    assert not [each for each in logs if "Traceback" in each["message"]], "it says all without one"
    assert not list((home / "prefect").glob("storage/*")), "a result was written to disk"


@pytest.mark.usefixtures("finished")
def test_a_batch_past_its_due_time_is_marked_as_late(server: Server) -> None:
    parameters = BatchParameters(circuit="multiplier", count=1, budget="1GiB", due="1ms")
    summary = run_batch(parameters, silent)
    flow_run_id = str(summary.flow_run_url).rsplit("/", 1)[1]
    (flow_run,) = ask(server.api_url, "flow_runs/filter", flow_runs={"id": {"any_": [flow_run_id]}})
    assert "late" in flow_run["tags"]
    assert re.fullmatch(r"1 of 1 proved, 1 of them up to [0-9.]+ s late", flow_run["state"]["message"])
    (table,) = [each for each in artifacts(server, flow_run_id) if each["key"] == "proofs"]
    assert re.fullmatch(r"proved, .* late", json.loads(table["data"])[0]["state"])
    logs = ask(server.api_url, "logs/filter", logs={"flow_run_id": {"any_": [flow_run_id]}})
    assert any(re.match(r"late: it was due at .* UTC, and 0 of 1", each["message"]) for each in logs)


def test_a_terminated_batch_is_cancelled_and_everything_of_it_ends(server: Server, home: Path) -> None:
    """On a server that the environment names, which it must leave as it is."""
    process = start_batch(home, server.api_url, circuit="multiplier", count=10_000, budget="1GiB")
    read_until(process, "proved in")
    process.terminate()
    _, err = process.communicate()
    assert process.returncode == 130, err

    (flow_run,) = ask(server.api_url, "flow_runs/filter", sort="START_TIME_DESC", limit=1)
    assert_cancelled(server, flow_run, "stopped by a signal")
    assert eventually(lambda: all_final(server, flow_run["id"]))
    with open_history(home / "history.db") as history:
        assert list_runs(history)[0].run.state == "cancelled"
    assert server.local is not None
    assert server.local.is_alive()


def test_a_batch_that_is_cancelled_in_the_ui_ends_by_itself(server: Server, home: Path) -> None:
    process = start_batch(home, server.api_url, circuit="multiplier", count=10_000, budget="1GiB")
    read_until(process, "proved in")
    (flow_run,) = ask(server.api_url, "flow_runs/filter", sort="START_TIME_DESC", limit=1)
    state = {"type": "CANCELLING", "name": "Cancelling"}  # what the UI sets
    ask(server.api_url, f"flow_runs/{flow_run['id']}/set_state", state=state)
    _, err = process.communicate()
    assert process.returncode == 130, err
    (flow_run,) = ask(server.api_url, "flow_runs/filter", flow_runs={"id": {"any_": [flow_run["id"]]}})
    assert_cancelled(server, flow_run, "cancelled in the UI")
    assert eventually(lambda: all_final(server, flow_run["id"]))
    with open_history(home / "history.db") as history:
        assert list_runs(history)[0].run.state == "cancelled"


def assert_cancelled(server: Server, flow_run: dict[str, Any], why: str) -> None:
    """The run says why, and has a table of what was proved before, and what was under way."""
    said, proved, rest = flow_run["state"]["message"].split("; ")
    assert (flow_run["state_type"], said) == ("CANCELLED", why)
    (table,) = [each for each in artifacts(server, flow_run["id"]) if each["key"] == "proofs"]
    states = [row["state"] for row in json.loads(table["data"])]
    assert {"proved", "cancelled"} <= set(states)
    assert proved == f"{table['description'].split()[0]} of 10000 proved"
    with open_history(Path(os.environ["CUZK_HOME"]) / "history.db") as history:
        assert rest == f"for the rest start a run with Resume {list_runs(history)[0].run.id}"
