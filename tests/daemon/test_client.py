"""Our own client: circuits by name, stages, progress, and what it says of refusals."""

import asyncio
import json
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from daemon.client import Client, connect
from daemon.errors import Conflict, DaemonError, Refused, Unavailable, UnknownJob
from daemon.proto.cuzk_py.v1 import circuits_pb2 as pb
from tests.daemon.conftest import INPUT, Daemon, pid_file


def test_a_job_is_submitted_watched_and_its_proof_is_valid(daemon: Daemon) -> None:
    async def prove(client: Client) -> list[pb.JobEvent]:
        due = datetime.now(UTC) + timedelta(hours=1)
        job_id = await client.submit("multiplier", partitions=2, priority="high", due=due, name="watched")
        return [event async for event in client.watch(job_id)]

    events = daemon.ask(prove)
    stages = {(e.partition, e.stage, e.finished) for e in events if e.stage != pb.STAGE_UNSPECIFIED}
    every = {pb.LOAD, pb.SYNTHESIZE, pb.PROVE, pb.VERIFY}
    assert stages == {(part, stage, end) for part in (0, 1) for stage in every for end in (False, True)}
    result = events[-1].result
    assert events[0].state in (pb.ACCEPTED, pb.RUNNING)
    assert (result.state, len(result.partitions)) == (pb.DONE, 2)
    for each in result.partitions:
        daemon.verify(each.proof_json, each.public_json)
    times = result.timings
    assert 0 < times.prove_s <= times.total_s
    admitted_s = min(each.at_s for each in events if each.stage == pb.LOAD)
    assert admitted_s == pytest.approx(times.queue_s)  # since acceptance, what was made ready included


def test_stages_are_calls_of_their_own_and_end_where_they_say(daemon: Daemon) -> None:
    async def stages(client: Client) -> list[pb.JobResult]:
        return [
            await client.load("multiplier"),
            await client.synthesize("multiplier", inputs=INPUT),
            await client.prove("multiplier", inputs=INPUT),
        ]

    loaded, synthesized, proved = daemon.ask(stages)
    assert [each.state for each in (loaded, synthesized, proved)] == [pb.DONE] * 3
    assert [len(each.partitions) for each in (loaded, synthesized, proved)] == [0, 0, 1]
    daemon.verify(proved.partitions[0].proof_json, proved.partitions[0].public_json)
    times = loaded.timings
    assert (times.synthesize_s, times.prove_s, times.verify_s) == (0, 0, 0)
    assert (synthesized.timings.prove_s, synthesized.timings.verify_s) == (0, 0)
    assert synthesized.timings.synthesize_s > 0


def test_the_same_request_id_is_the_same_job_and_another_content_is_refused(daemon: Daemon) -> None:
    async def twice(client: Client) -> tuple[list[str], list[bytes]]:
        asks = [client.submit("multiplier", inputs=INPUT, request_id="idempotent") for _ in range(5)]
        ids = await asyncio.gather(*asks)
        with pytest.raises(Conflict, match=ids[0]):
            await client.submit("multiplier", inputs=b'{"a": "1", "b": "2"}', request_id="idempotent")
        results = [await client.result(ids[0]) for _ in range(2)]
        return ids, [each.partitions[0].proof_json for each in results]

    ids, proofs = daemon.ask(twice)
    assert len(set(ids)) == 1
    assert len(set(proofs)) == 1


def test_refusals_are_one_line_with_what_to_do(daemon: Daemon) -> None:
    async def refused(client: Client, kind: type[DaemonError], **ask: object) -> str:
        with pytest.raises(kind) as caught:
            await client.submit(**ask)  # type: ignore[arg-type]  # that is what it is about
        assert "\n" not in str(caught.value)
        return str(caught.value)

    async def ask(client: Client) -> list[str]:
        with pytest.raises(UnknownJob):
            await client.result("no such job")
        return [
            await refused(client, Refused, circuit="mutliplier"),
            await refused(client, Refused, circuit="multiplier", inputs=b"\x00\x01"),
            await refused(client, Refused, circuit="multiplier", inputs=b"[1]"),
            await refused(client, Refused, circuit="multiplier", partitions=2_000_000),
            await refused(client, Refused, circuit="multiplier", request_id="a\nb"),
        ]

    lines = daemon.ask(ask)
    assert "did you mean 'multiplier'?" in lines[0]
    assert "neither a witness (.wtns) nor JSON" in lines[1]


def test_a_wrong_input_fails_its_job_alone_and_says_why(daemon: Daemon) -> None:
    async def ask(client: Client) -> pb.JobResult:
        return await client.prove("multiplier", inputs=b'{"a": "1", "b": "x"}')

    result = daemon.ask(ask)
    assert result.state == pb.FAILED
    assert result.error.startswith("multiplier: the input: input 'b' has a value that is no integer")
    assert "\n" not in result.error


def test_nobody_at_the_address_is_said_in_one_line_with_what_to_do() -> None:
    async def ask() -> None:
        async with connect("127.0.0.1:1"):
            pass

    with pytest.raises(
        Unavailable, match=r"no daemon answers at 127\.0\.0\.1:1; start one with `cuzk daemon"
    ):
        asyncio.run(ask())


def test_what_answers_and_is_no_daemon_is_said(daemon: Daemon) -> None:
    async def ask(address: str) -> None:
        async with connect(address, deadline_s=1.0):
            pass

    with pytest.raises(Unavailable, match=r"it is a server of HTTP, no daemon's: name daemon\.listen"):
        asyncio.run(ask(daemon.status))
    with pytest.raises(Unavailable, match="it speaks no TLS: use http://"):
        asyncio.run(ask(daemon.address.replace("http", "https")))


def test_what_takes_connections_and_is_silent_is_said_to_hang(tmp_path: Path) -> None:
    async def ask(address: str) -> None:
        async with connect(address, deadline_s=1.0):
            pass

    with socket.socket(socket.AF_UNIX) as stopped:
        stopped.bind(str(tmp_path / "s"))
        stopped.listen()  # as the system does for a process that was stopped
        with pytest.raises(Unavailable, match=r"no daemon's answer from unix.*: it hangs or was stopped"):
            asyncio.run(ask(f"unix://{tmp_path}/s"))


def test_the_daemon_tells_who_it_is_and_how_it_is(daemon: Daemon) -> None:
    async def ask(client: Client) -> tuple[pb.GetVersionResponse, pb.DaemonStatus, list[pb.CircuitInfo]]:
        assert client.version is not None
        return client.version, await client.status(), await client.circuits()

    version, status, circuits = daemon.ask(ask)
    about = pid_file(daemon.home)
    assert (version.pid, version.run_id) == (about["pid"], about["run_id"])
    assert version.status_address == daemon.status
    assert status.budget_bytes == 256 << 20
    assert status.reserved_bytes <= status.peak_reserved_bytes <= status.budget_bytes
    assert status.rss_bytes > 0
    assert {each.name for each in circuits} >= {"multiplier", "merkle"}


def test_metrics_and_evictions_are_the_public_ones(daemon: Daemon) -> None:
    async def ask(client: Client) -> tuple[str, int, bool]:
        await client.preload("multiplier")
        evicted = await client.evict("multiplier")
        return await client.metrics(), evicted.freed_bytes, (await client.evict("multiplier")).was_loaded

    text, freed_bytes, again = daemon.ask(ask)
    assert "cuzk_jobs_ended" in text
    assert freed_bytes > 0
    assert not again
    assert json.loads(INPUT)  # what the proofs above were made of
