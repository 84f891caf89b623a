"""One batch on two hosts: each a worker with a queue, a state folder, a budget and a history of its own."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import psutil
import pytest
from prefect.client.orchestration import get_client
from prefect.settings import PREFECT_API_URL, temporary_settings

from config import ConfigError
from db import ask as ask_sql
from db import open_history
from engine.finished import finished_proofs
from flows.parameters.batch import BatchParameters
from flows.prove_partitions import check_key
from flows.spread import hosts
from flows.spread.hosts import Share, check_hosts, end_of
from flows.spread.share import ShareParameters
from tests.flows.served import Host, host, serving
from tests.flows.support import ask, eventually
from tests.groth16.samples import sample, snarkjs

BATCH = "prove_batch/nightly-batch"
FINAL = {"COMPLETED", "FAILED", "CANCELLED", "CRASHED"}
ZKEY = sample("bn254", "sample.zkey")
SETTINGS = f"""
[memory]
total_budget = "256MiB"
[circuits.sample]
zkey = "{ZKEY}"
witness = "{sample("bn254", "sample.wtns")}"
"""
COUNT, PARTITIONS = 150, 2
ON_BOTH = {"circuit": "sample", "hosts": ["host-1", "host-2"], "partitions": PARTITIONS}

Served = tuple[Host, "subprocess.Popen[str]"]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Served]]:
    """Two hosts that serve; the first has the server. They have no folder in common but that of the key."""
    homes = [tmp_path_factory.mktemp(name) for name in ("host-1", "host-2")]
    for home in homes:
        (home / "cuzk.toml").write_text(SETTINGS)
    with host(homes[0]) as first:
        second = Host(homes[1], first.api_url, first.hook_url, joins=True)
        with serving(first, "--queue", "host-1") as one, serving(second, "--queue", "host-2") as two:
            yield (first, one), (second, two)


def proved(on: Host) -> set[tuple[str, str]]:
    """Names and states of what the host has in its history as proofs."""
    with open_history(on.home / "history.db") as history:
        rows = ask_sql(history, "SELECT proof, state FROM history_proofs").rows
    return {(str(name), str(state)) for name, state in rows}


def artifact(on: Host, run_id: str, key: str) -> list[dict[str, str]]:
    (found,) = ask(
        on.api_url,
        "artifacts/filter",
        artifacts={"flow_run_id": {"any_": [run_id]}, "key": {"any_": [key]}},
    )
    rows: list[dict[str, str]] = json.loads(found["data"])
    return rows


def shares(on: Host, run_id: str) -> list[dict[str, object]]:
    """The flow runs that are part of that one, by name."""
    parent = {"parent_flow_run_id": {"any_": [run_id]}}
    found: list[dict[str, object]] = ask(on.api_url, "flow_runs/filter", flow_runs=parent, sort="NAME_ASC")
    return found


@pytest.fixture(scope="module")
def batch(both: tuple[Served, Served], tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A batch in whose midst the second host died: its flow run, which has ended, and its folder.

    Worker and runs are gone as when the machine is; that they are, the automation would say after 90 s.
    """
    (first, _), (second, worker) = both
    output = tmp_path_factory.mktemp("proofs")
    run = first.start(BATCH, on_queue="host-1", **ON_BOTH, count=COUNT, concurrency=4, output=str(output))
    assert eventually(lambda: any((second.home / "proofs").glob("*/*/proof.json")))
    killed = psutil.Process(worker.pid)

    def has_sent_some() -> bool:
        """It runs for moments only, or it might have sent all before the first arrives."""
        for process in killed.children():
            process.suspend()
        time.sleep(1.5)  # as long as it takes to be looked at
        if any(output.glob("*/proof_1.json")):
            return True
        for process in killed.children():
            process.resume()
        time.sleep(0.2)
        return False

    assert eventually(has_sent_some)
    _, of_second = shares(first, run)
    for process in [killed, *killed.children(recursive=True)]:
        process.kill()
    lost = {"type": "CRASHED", "message": "no sign of life"}
    ask(first.api_url, f"flow_runs/{of_second['id']}/set_state", state=lost, force=True)
    assert eventually(lambda: first.state(run) in FINAL)
    return run, output


def test_every_proof_is_made_and_valid(both: tuple[Served, Served], batch: tuple[str, Path]) -> None:
    ((first, _), _), (run, output) = both, batch
    assert first.run(run)["state"]["message"] == f"{COUNT} of {COUNT} proved"
    folders = [output / f"sample-{number + 1}" for number in range(COUNT)]
    assert finished_proofs(ZKEY, folders, PARTITIONS, lambda _: None) == set(range(COUNT))
    key = sample("bn254", "verification_key.json")
    one = folders[1]
    assert "OK!" in snarkjs("groth16", "verify", key, one / "public_1.json", one / "proof_1.json")
    assert not list(output.rglob("*.partial"))
    assert ("sample #1", "succeeded") in proved(first), "the batch is kept where it ran"


def test_the_partitions_of_a_proof_are_spread_over_both(
    both: tuple[Served, Served], batch: tuple[str, Path]
) -> None:
    ((first, _), (second, _)), (run, _) = both, batch
    for number in (1, 2, 3):
        of_proof = {f"sample #{number}, {part} of {PARTITIONS}" for part in range(1, PARTITIONS + 1)}
        by_first, by_second = ({name for name, _ in proved(each)} & of_proof for each in (first, second))
        assert by_first
        assert by_second
        assert (by_first | by_second, by_first & by_second) == (of_proof, set())
    inputs = ask(first.api_url, f"flow_runs/{run}/input/filter", prefix="partitions-")
    assert inputs == [], "what has been read is deleted"


def test_what_the_killed_host_left_the_other_has_proved(
    both: tuple[Served, Served], batch: tuple[str, Path]
) -> None:
    ((first, _), _), (run, _) = both, batch
    one, two = artifact(first, run, "hosts")
    assert (one["state"], two["state"]) == ("well", "host-2: no sign of life")
    by_one, by_two = int(one["partitions proved"]), int(two["partitions proved"])
    assert by_one > by_two > 0
    assert by_one + by_two == COUNT * PARTITIONS
    states = [each["state_type"] for each in shares(first, run)]
    assert states == ["COMPLETED", "COMPLETED", "CRASHED"]


def test_proofs_fail_with_the_cause_where_no_host_is_left(
    both: tuple[Served, Served], batch: tuple[str, Path]
) -> None:
    (first, _), _ = both
    assert batch
    asked = {"circuit": "sample", "hosts": ["host-1"], "count": 1, "budget": "1KiB"}
    run = first.start(BATCH, on_queue="host-1", **asked)
    assert eventually(lambda: first.state(run) in FINAL)
    state = first.run(run)["state"]
    assert state["type"] == "FAILED"
    cause = r"0 of 1 proved; sample #1: no host is left to prove it; host-1: .* the budget is 1\.0 ?KiB"
    assert re.match(cause, state["message"]), state["message"]


def test_a_host_with_another_key_is_refused_before_it_proves() -> None:
    share = ShareParameters(
        batch=BatchParameters(circuit="sample"), host="host-2", partitions="0", key="0123", batch_run=""
    )
    with pytest.raises(ConfigError, match=r"sample\.zkey: found the verification key .*, expected 0123 "):
        check_key(ZKEY, share)


def test_a_host_that_does_not_serve_is_named(both: tuple[Served, Served], batch: tuple[str, Path]) -> None:
    """The one that was killed, after some patience; and one that there never was, at once."""
    (first, _), _ = both
    asked = {"host": "host-2", "partitions": "0", "key": "", "batch_run": batch[0]}
    run = first.start("prove_partitions/share", on_queue="host-2", batch={"circuit": "sample"}, **asked)
    with temporary_settings({PREFECT_API_URL: first.api_url}):
        state = asyncio.run(end_of_waiting("host-2", run))
        with pytest.raises(ConfigError, match="no host serves the queue 'hots-1'; did you mean 'host-1'"):
            asyncio.run(checked("hots-1"))
    assert "is `cuzk serve --queue host-2` running?" in state
    assert first.state(run) == "CANCELLED"


async def end_of_waiting(host_name: str, run_id: str) -> str:
    """Of a run that nobody takes, once that has taken long enough."""
    async with get_client() as client:
        share = Share(host_name, UUID(run_id), {0}, asked_s=time.monotonic() - hosts.BEGINS_WITHIN_S - 1)
        state = await end_of(client, share)
    assert state is not None
    return str(state.message)


async def checked(host_name: str) -> None:
    async with get_client() as client:
        await check_hosts(client, [host_name])
