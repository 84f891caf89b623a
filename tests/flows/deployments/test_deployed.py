"""Deployments on a real server: made once, kept as they were edited, run on a host by a real worker."""

import asyncio
import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import psutil
import pytest
import yaml
from prefect.client.orchestration import get_client
from prefect.events.schemas.automations import AutomationCore, EventTrigger
from prefect.settings import PREFECT_API_URL, temporary_settings

from flows.deployments.automations import LATE_FOR
from flows.deployments.file import BUNDLED
from flows.ends.ended_runs import close_tasks
from flows.server.chosen import trouble
from flows.server.local import running_server
from tests.flows.served import Host, host, serving
from tests.flows.support import ROOT, ask, eventually, task_runs

NIGHTLY, PRUNE = "prove_batch/nightly-batch", "history_prune/history-prune"
STUDY, SHARE = "capacity_study/capacity-study", "prove_partitions/share"
COUNT = 40  # of which the server gives all tasks at once
SMALL = {"circuit": "multiplier", "budget": "1GiB"}
FINAL = {"COMPLETED", "FAILED", "CANCELLED", "CRASHED"}


@pytest.fixture(scope="module")
def on(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """A host with the bundled deployments, and an alert on failure."""
    with host(tmp_path_factory.mktemp("host")) as made:
        done = made.cuzk("deploy", "--notify", made.hook_url)
        assert done.returncode == 0, done.stderr
        assert "the alerts' address has taken a first word" in done.stdout
        assert made.told == ["cuzk deploy\nRuns that fail, crash or are not begun are told here."]
        made.told.clear()
        for alert in ("failure", "late"):
            assert f"automation cuzk: alert on {alert}: made, and tells the address given" in done.stdout
        entries = yaml.safe_load(BUNDLED.read_text())
        entries["deployments"] = [{**entries["deployments"][0], "name": "second-batch", "schedules": []}]
        (made.home / "second.yaml").write_text(yaml.safe_dump(entries))
        second = made.cuzk("deploy", "--file", str(made.home / "second.yaml"))
        assert second.returncode == 0, second.stderr
        yield made


@pytest.fixture(scope="module")
def worker(on: Host) -> Iterator["subprocess.Popen[str]"]:
    """`cuzk serve` on that host."""
    with serving(on) as process:
        yield process
    assert process.returncode == 0
    assert not [each for each in psutil.process_iter() if _is_run_of(each, process.pid)]


def _is_run_of(process: psutil.Process, worker_pid: int) -> bool:
    """And not a server that the worker has started again, which stays."""
    try:
        found = process.environ()
    except psutil.Error:
        return False
    return "PREFECT__FLOW_RUN_ID" in found and found["PREFECT__WORKER_NAME"].endswith(f"-{worker_pid}")


def test_each_has_its_schedule_its_limit_and_a_form(on: Host) -> None:
    nightly, prune = on.deployment(NIGHTLY), on.deployment(PRUNE)
    assert [(each["schedule"]["cron"], each["active"]) for each in nightly["schedules"]] == [
        ("0 2 * * *", True)
    ]
    assert [each["active"] for each in prune["schedules"]] == [False]
    for each in (nightly, prune, on.deployment(STUDY)):
        assert each["global_concurrency_limit"]["limit"] == 1
        assert each["concurrency_options"]["collision_strategy"] == "ENQUEUE"
        assert each["work_pool_name"] == "cuzk"
        assert each["enforce_parameter_schema"]
        assert ":" not in each["entrypoint"], "an edit of the file would not reach the runs"
    form = nightly["parameter_openapi_schema"]["definitions"]["BatchParameters"]["properties"]
    assert form["concurrency"]["title"] == "At a time"


def test_deployed_again_what_was_edited_in_the_ui_stays_until_the_file_changes(
    on: Host, tmp_path: Path
) -> None:
    nightly = on.deployment(NIGHTLY)
    (schedule,) = nightly["schedules"]
    at_three = {"cron": "0 3 * * *", "timezone": "UTC", "day_or": True}
    on.change(f"deployments/{nightly['id']}/schedules/{schedule['id']}", schedule=at_three)
    on.change(f"deployments/{nightly['id']}", parameters={"parameters": {"circuit": "merkle", "count": 7}})
    again = on.cuzk("deploy").stdout.splitlines()
    assert again[:-1] == [
        "work pool cuzk: there",
        f"deployment {NIGHTLY}: there",
        f"deployment {STUDY}: there",
        f"deployment {PRUNE}: there",
        f"deployment {SHARE}: there",
        "automation cuzk: runs that died: there",
    ]
    edited = on.deployment(NIGHTLY)
    assert edited["schedules"][0]["schedule"]["cron"] == "0 3 * * *"
    assert edited["parameters"]["parameters"]["count"] == 7

    entries = yaml.safe_load(BUNDLED.read_text())
    entries["deployments"][0]["schedules"][0]["cron"] = "30 1 * * *"
    (tmp_path / "prefect.yaml").write_text(yaml.safe_dump(entries))
    changed = on.cuzk("deploy", "--file", str(tmp_path / "prefect.yaml"))
    assert f"deployment {NIGHTLY}: made anew, since prefect.yaml has changed" in changed.stdout
    nightly = on.deployment(NIGHTLY)
    assert [each["schedule"]["cron"] for each in nightly["schedules"]] == ["30 1 * * *"]


def test_what_was_edited_to_a_circuit_that_is_gone_is_refused_with_the_remedy(on: Host) -> None:
    nightly = on.deployment(NIGHTLY)
    settings = on.home / "cuzk.toml"
    settings.write_text('[circuits.old]\nzkey = "old.zkey"\nwitness = "old.wtns"\n')
    assert on.cuzk("deploy").returncode == 0
    on.change(f"deployments/{nightly['id']}", parameters={"parameters": {"circuit": "old", "count": 7}})
    settings.unlink()
    refused = on.cuzk("deploy")
    assert refused.returncode == 2
    *_, why = refused.stderr.splitlines()
    assert f"deployment {NIGHTLY}: what was edited in the UI does not fit the settings any more: " in why
    assert "'old' is not one of" in why
    page = f"{on.api_url.removesuffix('/api')}/deployments/deployment/{nightly['id']}"
    assert why.endswith(f"edit it in {page}, or bring back in the settings what it names, and deploy again")
    on.change(f"deployments/{nightly['id']}", parameters={"parameters": {"circuit": "merkle", "count": 7}})
    assert on.cuzk("deploy").returncode == 0


def test_what_is_due_and_nothing_begins_is_told(on: Host) -> None:
    """No worker is there yet; patience is shorter here."""
    asyncio.run(_tell_late_runs_within(on, timedelta(seconds=10)))
    run = on.start(NIGHTLY, **SMALL, count=1)
    assert eventually(lambda: len(on.told) > 0)
    assert on.told[0].startswith(f"{on.run(run)['name']}: Late\ndue for ")
    assert run in on.told[0]
    assert on.run(run)["state_name"] == "Late"
    on.cancel(run)
    assert eventually(lambda: on.state(run) == "CANCELLED")
    on.told.clear()
    asyncio.run(_tell_late_runs_within(on, LATE_FOR))


async def _tell_late_runs_within(on: Host, patience: timedelta) -> None:
    with temporary_settings({PREFECT_API_URL: on.api_url}):
        async with get_client() as client:
            (found,) = await client.read_automations_by_name("cuzk: alert on late")
            assert isinstance(found.trigger, EventTrigger)
            found.trigger.within = patience
            fields = found.model_dump(include={"name", "description", "trigger", "actions"})
            await client.update_automation(found.id, AutomationCore.model_validate(fields))


def test_a_run_of_each_works_also_where_the_server_is_started_again_and_one_that_fails_is_told(
    on: Host,
    worker: "subprocess.Popen[str]",  # noqa: ARG001 it runs them
) -> None:
    failing = on.start(NIGHTLY, circuit="merkle", config="nowhere.toml")
    pruned, studied = on.start(PRUNE, keep_days=30), on.start(STUDY, circuit="merkle", count=5)
    assert eventually(lambda: {on.state(run) for run in (pruned, studied, failing)} <= FINAL)
    assert [on.state(run) for run in (pruned, studied, failing)] == ["COMPLETED", "COMPLETED", "FAILED"]
    assert eventually(lambda: len(on.told) > 0)
    assert [text for text in on.told if "nowhere.toml" in text] == on.told
    assert failing in on.told[0]  # where to look

    proved = on.start(NIGHTLY, **SMALL, count=COUNT, tasks="each", output="relative")
    next_fails = on.start(NIGHTLY, circuit="merkle", config="elsewhere.toml")  # waits for its turn
    assert eventually(lambda: len(list((on.home / "relative").glob("*/proof.json"))) > 2)
    server = running_server(on.home / "prefect")
    assert server is not None
    os.killpg(server.pid, signal.SIGKILL)
    made = len(list((on.home / "relative").glob("*/proof.json")))
    assert made < COUNT, "it is in the midst of the batch"
    assert eventually(lambda: trouble(on.api_url) is None)
    assert eventually(lambda: on.state(proved) in FINAL)
    assert on.state(proved) == "COMPLETED"
    assert len(list((on.home / "relative").glob("*/proof.json"))) == COUNT, "it ran in the worker's folder"
    assert eventually(lambda: on.state(next_fails) == "FAILED")
    assert eventually(lambda: any("elsewhere.toml" in text for text in on.told)), "of a run that came before"
    expected = {
        f"{stage} multiplier #{number + 1}"
        for stage in ("admit", "synthesize", "prove", "verify")
        for number in range(COUNT)
    }
    assert eventually(lambda: {task["name"] for task in task_runs(on.api_url, proved)} >= expected)
    assert eventually(lambda: {task["state_type"] for task in task_runs(on.api_url, proved)} == {"COMPLETED"})


def test_a_user_of_the_ui_starts_a_batch_sees_it_and_cancels_another(
    on: Host,
    worker: "subprocess.Popen[str]",  # noqa: ARG001 it runs them
) -> None:
    """In Chromium; the pictures stay in build/screenshots."""
    shots = ROOT / "build" / "screenshots"
    shots.mkdir(parents=True, exist_ok=True)
    script = [
        str(Path(__file__).with_name("ui.mjs")),
        on.api_url.removesuffix("/api"),
        "nightly-batch",
        str(shots),
    ]
    done = subprocess.run(["node", *script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    for help_text in ("How many proofs to make", "Which proofs go first"):
        assert help_text in seen["form"]
    for task in ("admit merkle #1", "synthesize merkle #2", "prove merkle #3", "verify merkle #3"):
        assert task in seen["tasks"]
    assert "3 of 3 proved" in seen["artifacts"]
    assert on.state(seen["cancelled"]) == "CANCELLED"
    for name in ("form", "dag", "artifacts", "cancelled"):
        assert (shots / f"{name}.png").stat().st_size > 10_000


def test_a_run_that_is_cancelled_keeps_its_word_and_can_be_retried_at_once(
    on: Host,
    worker: "subprocess.Popen[str]",  # noqa: ARG001 it comes seconds later to say that the run was cancelled
) -> None:
    run = on.start(NIGHTLY, circuit="merkle", count=40, concurrency=1)
    assert eventually(lambda: proved_so_far(on, run) > 0)
    on.cancel(run)
    assert eventually(lambda: on.state(run) == "CANCELLED")
    ask(on.api_url, f"flow_runs/{run}/set_state", state={"type": "SCHEDULED", "name": "AwaitingRetry"})
    assert eventually(lambda: on.state(run) in FINAL and on.state(run) != "CANCELLED")
    states = [each for each in on.get(f"flow_run_states/?flow_run_id={run}") if each["type"] in FINAL]
    assert [each["type"] for each in states] == ["CANCELLED", "COMPLETED"]
    assert " of 40 proved; for the rest start a run with Resume" in states[0]["message"]
    assert states[1]["message"].startswith("40 of 40 proved")


def test_what_is_killed_and_retried_or_suspended_and_resumed_goes_on_with_the_rest(
    on: Host, worker: "subprocess.Popen[str]"
) -> None:
    """Retry and Resume are buttons of the UI; they send what is sent here."""
    run = on.start(NIGHTLY, circuit="merkle", count=80, concurrency=1)
    assert eventually(lambda: proved_so_far(on, run) > 0)
    (process,) = [each for each in psutil.Process(worker.pid).children() if _runs(each, run)]
    assert os.getpgid(process.pid) == process.pid, "Ctrl-C would tell it to end, and then its worker again"
    process.send_signal(signal.SIGKILL)
    assert eventually(lambda: on.state(run) == "CRASHED")
    assert eventually(lambda: any(run in text for text in on.told))
    told = len(on.told)
    ask(on.api_url, f"flow_runs/{run}/set_state", state={"type": "SCHEDULED", "name": "AwaitingRetry"})

    before = proved_so_far(on, run)
    assert eventually(lambda: proved_so_far(on, run) > before)
    suspended = {"type": "PAUSED", "name": "Suspended", "state_details": {"pause_reschedule": True}}
    ask(on.api_url, f"flow_runs/{run}/set_state", state=suspended)
    assert eventually(
        lambda: not [each for each in psutil.Process(worker.pid).children() if _runs(each, run)]
    )
    assert (on.state(run), len(on.told)) == ("PAUSED", told)
    ask(on.api_url, f"flow_runs/{run}/resume")
    assert eventually(lambda: on.state(run) in FINAL)
    found = on.run(run)
    assert re.fullmatch("80 of 80 proved, [0-9]+ of them before", found["state"]["message"])
    assert found["name"] == "merkle ×80 · resumed"
    made = [len(list(folder.glob("merkle-*/proof.json"))) for folder in on.home.glob("proofs/*")]
    assert made.count(80) == 1, "all are in the folder of the first"


def proved_so_far(on: Host, run_id: str) -> int:
    """As the bar of its newest process says."""
    asked = {"flow_run_id": {"any_": [run_id]}, "key": {"any_": ["progress"]}}
    bars = ask(on.api_url, "artifacts/filter", artifacts=asked, sort="CREATED_DESC")
    found = re.search("([0-9]+) of", bars[0]["description"]) if bars else None
    return int(found[1]) if found else 0


@pytest.fixture(scope="module")
def overlapping(on: Host, worker: "subprocess.Popen[str]") -> list[str]:  # noqa: ARG001 it runs them
    """Two runs of two deployments under way, with a budget that both of them would fill alone."""
    names = (NIGHTLY, "prove_batch/second-batch")
    return [on.start(name, circuit="merkle", count=3000, concurrency=8, budget="96MiB") for name in names]


def test_batches_that_overlap_share_the_budget_of_the_host(on: Host, overlapping: list[str]) -> None:
    (together, most) = (0, 0)

    def overlap() -> bool:
        nonlocal together, most
        for path in on.home.glob("memory-*.json"):
            book = json.loads(path.read_text())
            shares = [account["share_bytes"] for account in book["accounts"].values()]
            assert not any(shares) or sum(shares) <= book["total_bytes"] == 96 * 2**20
            together, most = max(together, sum(share > 0 for share in shares)), max(most, sum(shares))
        return together == 2 and most > 48 * 2**20

    assert eventually(overlap)
    assert [on.state(run) for run in overlapping] == ["RUNNING", "RUNNING"]


def test_a_killed_run_is_closed_with_its_tasks_and_the_next_has_its_turn(
    on: Host, worker: "subprocess.Popen[str]", overlapping: list[str]
) -> None:
    killed, other = overlapping
    assert eventually(lambda: len(task_runs(on.api_url, killed)) > 1)
    queued = on.start(NIGHTLY, **SMALL, count=1)
    assert eventually(lambda: on.run(queued)["state_name"] == "AwaitingConcurrencySlot")
    (process,) = [each for each in psutil.Process(worker.pid).children() if _runs(each, killed)]
    process.send_signal(signal.SIGKILL)
    assert eventually(lambda: on.state(killed) == "CRASHED")
    asyncio.run(close_now(on))
    assert {task["state_type"] for task in task_runs(on.api_url, killed)} <= FINAL
    assert eventually(lambda: on.state(queued) in FINAL)
    assert on.state(queued) == "COMPLETED"
    assert on.state(other) == "RUNNING"


def _runs(process: psutil.Process, run_id: str) -> bool:
    try:
        return bool(process.environ().get("PREFECT__FLOW_RUN_ID") == run_id)
    except psutil.NoSuchProcess:  # it has ended meanwhile
        return False


async def close_now(on: Host) -> None:
    """What the worker does after a while."""
    with temporary_settings({PREFECT_API_URL: on.api_url}):
        async with get_client() as client:
            await close_tasks(client, ended_for=timedelta(0))


def test_whoever_serves_is_told_to_end_and_its_run_ends_first(
    on: Host, worker: "subprocess.Popen[str]", overlapping: list[str]
) -> None:
    _, run = overlapping
    assert eventually(lambda: len(task_runs(on.api_url, run)) > 1)
    worker.terminate()
    assert worker.wait(timeout=120) == 0
    assert on.state(run) in ("CANCELLED", "CRASHED")  # it is given seconds to say itself that it is cancelled


def test_a_run_goes_on_whose_worker_is_killed(on: Host) -> None:
    with serving(on, "--limit", "1") as process:
        run = on.start(NIGHTLY, circuit="merkle", count=40)
        assert eventually(lambda: proved_so_far(on, run) > 0)
        process.kill()
    assert eventually(lambda: on.state(run) in FINAL)
    assert on.run(run)["state"]["message"] == "40 of 40 proved"
