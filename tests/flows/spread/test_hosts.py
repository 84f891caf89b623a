"""One batch on two hosts: each a worker with a queue, a state folder, a budget and a history of its own."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import psutil
import pytest
from prefect.client.orchestration import get_client
from prefect.settings import PREFECT_API_URL, temporary_settings

from config import ConfigError
from engine.finished import finished_proofs
from flows.parameters.batch import BatchParameters
from flows.prove_partitions import check_key
from flows.spread import hosts
from flows.spread.hosts import Share, check_hosts, end_of
from flows.spread.share import ShareParameters
from tests.flows.served import Host
from tests.flows.spread import killed_batch
from tests.flows.spread.killed_batch import Resumed, killed_and_resumed
from tests.flows.spread.two_hosts import (
    FINAL,
    ON_BOTH,
    PARTITIONS,
    ZKEY,
    Both,
    artifact,
    holds_still,
    on_their_way,
    proved,
    rows,
    shares,
    two_hosts,
)
from tests.flows.support import ask, eventually, task_runs
from tests.groth16.samples import sample, snarkjs

BATCH = "prove_batch/nightly-batch"
COUNT = 150
FIRST = (1, 2, 3)  # proofs of which the second host has sent its part before it dies


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    with two_hosts([tmp_path_factory.mktemp(name) for name in ("host-1", "host-2")]) as served:
        yield served


@pytest.fixture(scope="module")
def resumed(both: Both, tmp_path_factory: pytest.TempPathFactory) -> Resumed:
    """A batch whose own process was killed, and that was taken up."""
    return killed_and_resumed(both, tmp_path_factory.mktemp("resumed"))


def test_a_batch_whose_process_was_killed_is_taken_up_and_made(both: Both, resumed: Resumed) -> None:
    ((first, _), _), count = both, killed_batch.COUNT
    folders = [resumed.output / f"sample-{number + 1}" for number in range(count)]
    assert finished_proofs(ZKEY, folders, killed_batch.PARTITIONS, lambda _: None) == set(range(count))
    assert not list(resumed.output.rglob("*.partial"))
    assert f"{count} of {count} proved" in first.run(resumed.run)["state"]["message"]


def test_what_was_on_its_way_to_the_killed_run_is_not_made_again(both: Both, resumed: Resumed) -> None:
    ((first, _), (second, _)), wanted = both, killed_batch.COUNT * killed_batch.PARTITIONS
    taken = re.search(r"(\d+) more, and (\d+) partitions of others, were on their way", resumed.lines)
    assert taken is not None
    assert int(taken[1]) + int(taken[2]) > 0
    assert on_their_way(first, resumed.killed) == []
    ended = "SELECT name, id FROM proof WHERE state = 'succeeded' AND name LIKE '%of 3'"
    made = [name for each in (first, second) for name, _ in rows(each, ended)]
    assert len(set(made)) == wanted
    assert len(made) < 1.1 * wanted, "only what was not sent before a host's run had to end is made twice"


def test_everything_of_the_killed_run_has_ended_and_holds_no_memory(both: Both, resumed: Resumed) -> None:
    (first, _), (second, _) = both
    assert first.state(resumed.killed) == "CRASHED"
    of_killed = {str(each["state_type"]) for each in shares(first, resumed.killed)}
    assert of_killed <= FINAL
    assert "CANCELLED" in of_killed, "one may have had little left"
    tasks = [task for run in (resumed.killed, resumed.run) for task in task_runs(first.api_url, run)]
    assert {task["state_type"] for task in tasks} <= FINAL
    for each in (first, second):
        assert rows(each, "SELECT id FROM run WHERE state = 'running'") == set()
        for path in each.home.glob("memory-*.json"):
            accounts = json.loads(path.read_text())["accounts"].values()
            assert sum(account["share_bytes"] for account in accounts) == 0
    of_run = rows(first, f"SELECT state FROM run WHERE flow_run_id = '{resumed.killed}'")
    assert of_run == {("interrupted",)}


def made_on(on: Host) -> list[Path]:
    """The files of partitions that a host has proved."""
    return list((on.home / "proofs").glob("*/*/proof.json"))


@pytest.fixture(scope="module")
def batch(both: Both, resumed: Resumed, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A batch in whose midst the second host died: its flow run, which has ended, and its folder.

    Worker and runs are gone as when the machine is; that they are, the automation would say after 90 s.
    """
    (first, _), (second, worker) = both
    assert resumed, "both hosts are needed for it"
    output = tmp_path_factory.mktemp("proofs")
    before = len(made_on(second))
    run = first.start(BATCH, on_queue="host-1", **ON_BOTH, count=COUNT, concurrency=4, output=str(output))
    assert eventually(lambda: len(made_on(second)) > before)
    killed = psutil.Process(worker.pid)

    def has_sent_some() -> bool:
        """It runs for moments only, or it might have sent all before the first arrives."""
        holds_still(killed.children(), [second.home])
        time.sleep(1.5)  # as long as it takes to be looked at
        if all((output / f"sample-{number}" / "proof_1.json").exists() for number in FIRST):
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


def test_every_proof_is_made_and_valid(both: Both, batch: tuple[str, Path]) -> None:
    ((first, _), _), (run, output) = both, batch
    assert first.run(run)["state"]["message"] == f"{COUNT} of {COUNT} proved"
    folders = [output / f"sample-{number + 1}" for number in range(COUNT)]
    assert finished_proofs(ZKEY, folders, PARTITIONS, lambda _: None) == set(range(COUNT))
    key = sample("bn254", "verification_key.json")
    one = folders[1]
    assert "OK!" in snarkjs("groth16", "verify", key, one / "public_1.json", one / "proof_1.json")
    assert not list(output.rglob("*.partial"))
    assert ("sample #1", "succeeded") in proved(first), "the batch is kept where it ran"


def test_the_partitions_of_a_proof_are_spread_over_both(both: Both, batch: tuple[str, Path]) -> None:
    ((first, _), (second, _)), (run, _) = both, batch
    for number in FIRST:
        of_proof = {f"sample #{number}, {part} of {PARTITIONS}" for part in range(1, PARTITIONS + 1)}
        by_first, by_second = ({name for name, _ in proved(each)} & of_proof for each in (first, second))
        assert by_first
        assert by_second
        assert (by_first | by_second, by_first & by_second) == (of_proof, set())
    assert on_their_way(first, run) == [], "what has been read is deleted"


def test_what_the_killed_host_left_the_other_has_proved(both: Both, batch: tuple[str, Path]) -> None:
    ((first, _), _), (run, _) = both, batch
    one, two = artifact(first, run, "hosts")
    assert (one["state"], two["state"]) == ("well", "host-2: no sign of life")
    by_one, by_two = int(one["partitions proved"]), int(two["partitions proved"])
    assert by_one > by_two > 0
    assert by_one + by_two == COUNT * PARTITIONS
    states = [each["state_type"] for each in shares(first, run)]
    assert states == ["COMPLETED", "COMPLETED", "CRASHED"]


def test_proofs_fail_with_the_cause_where_no_host_is_left(both: Both, batch: tuple[str, Path]) -> None:
    (first, _), _ = both
    assert batch
    asked = {"circuit": "sample", "hosts": ["host-1"], "count": 1, "budget": "1KiB"}
    run = first.start(BATCH, on_queue="host-1", **asked)
    assert eventually(lambda: first.state(run) in FINAL)
    state = first.run(run)["state"]
    assert state["type"] == "FAILED"
    head = r"0 of 1 proved, 1 failed; sample #1: no host is left to prove it; "
    cause = rf"{head}host-1: .* the budget is 1\.0 ?KiB"
    assert re.match(cause, state["message"]), state["message"]


def test_a_host_with_another_key_is_refused_before_it_proves() -> None:
    share = ShareParameters(
        batch=BatchParameters(circuit="sample"), host="host-2", partitions="0", key="0123", batch_run=""
    )
    with pytest.raises(ConfigError, match=r"sample\.zkey: found the verification key .*, expected 0123 "):
        check_key(ZKEY, share)


def test_a_host_that_does_not_serve_is_named(both: Both, batch: tuple[str, Path]) -> None:
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
