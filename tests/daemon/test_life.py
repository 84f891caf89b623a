"""Start, signals, death and what outlives it: on real daemons and real processes."""

import asyncio
import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from daemon import place
from daemon.client import Client, connect, wait_ready
from daemon.errors import QueueFull, Refused, Silent, Unavailable, UnknownJob
from daemon.proto.cuzk_py.v1 import circuits_pb2 as pb
from tests.called import caller
from tests.daemon.conftest import CUZK, INPUT, PATIENCE_S, Daemon, pid_file

LONG = 1500  # partitions that take a while together


async def until(client: Client, job_id: str, *states: int) -> None:
    async with asyncio.timeout(PATIENCE_S):
        async for event in client.watch(job_id):
            if event.state in states:
                return


async def submit_for_ever(client: Client) -> None:
    while True:
        await client.submit("multiplier", inputs=INPUT, partitions=10)
        await asyncio.sleep(0.01)


async def ask_for_ever(client: Client, job_id: str) -> None:
    while True:
        await client.result(job_id)
        await asyncio.sleep(0.1)


def test_a_daemon_piped_into_head_goes_on(new_daemon) -> None:
    """Whatever it logs, and however much."""
    daemon = new_daemon()
    address = f"unix://{daemon.home}/d.sock"
    shell = (
        f"{CUZK} daemon --config {daemon.home}/cuzk.toml --listen {address} --log-level trace 2>&1 | head -1"
    )
    environment = {**os.environ, "CUZK_HOME": str(daemon.home)}
    head = subprocess.Popen(["bash", "-c", shell], env=environment, stdout=subprocess.PIPE, text=True)
    assert head.stdout is not None
    assert head.stdout.readline().startswith(f"cuzk daemon: listening on {address}")

    async def prove() -> set[int]:
        await wait_ready(address, PATIENCE_S)
        async with connect(address) as client:
            states = {(await client.prove("multiplier", inputs=INPUT)).state for _ in range(10)}
            await client.drain()
            return states

    assert asyncio.run(prove()) == {pb.DONE}
    head.wait(PATIENCE_S)


def test_threads_are_those_of_its_pools_however_many_clients_there_are(daemon: Daemon) -> None:
    """No pool grows with the work, and no library starts one of its own."""

    async def crowd() -> int:
        async with contextlib.AsyncExitStack() as stack:
            clients = [await stack.enter_async_context(connect(daemon.address)) for _ in range(30)]
            results = await asyncio.gather(*(each.prove("multiplier", inputs=INPUT) for each in clients))
            assert {each.state for each in results} == {pb.DONE}
            return psutil.Process(pid_file(daemon.home)["pid"]).num_threads()

    first = asyncio.run(crowd())
    assert asyncio.run(crowd()) <= first + 2
    assert first < 40


def test_a_second_daemon_of_the_same_folder_is_refused_and_names_the_first(
    daemon: Daemon, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done = caller(monkeypatch, capsys, daemon.home, daemon.home / "cuzk.toml")("daemon")
    assert done.returncode == 75
    assert f"the daemon of process {pid_file(daemon.home)['pid']} uses it" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_port_that_another_has_is_refused_in_one_line_that_names_it(daemon: Daemon, new_daemon) -> None:
    other = new_daemon()
    port = daemon.address.removeprefix("http://")
    command = [CUZK, "daemon", "--config", other.home / "cuzk.toml", "--listen", port]
    environment = {**os.environ, "CUZK_HOME": str(other.home)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 75
    owner = pid_file(daemon.home)["pid"]
    assert f"cannot listen on {port}: process {owner} (" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    (log,) = (other.home / "logs").glob("*.log")
    assert "Traceback" not in log.read_text()


def test_a_disk_that_is_full_at_the_start_is_one_line_and_may_be_tried_again(new_daemon) -> None:
    daemon = new_daemon()
    limited = f"ulimit -f 0; exec {CUZK} daemon --config {daemon.home}/cuzk.toml"  # no file may grow
    environment = {**os.environ, "CUZK_HOME": str(daemon.home)}
    done = subprocess.run(
        ["bash", "-c", limited],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 75
    assert len(done.stderr.splitlines()) == 1
    assert "history.db" in done.stderr


def test_neither_an_old_process_id_nor_an_old_log_is_taken_for_the_daemon_s(
    new_daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon = new_daemon().start()
    monkeypatch.setenv("CUZK_HOME", str(daemon.home))
    found = place.running()
    assert found is not None
    assert found["pid"] == daemon.process.pid
    daemon.kill()
    assert place.running() is None
    path = place.pid_file()
    path.write_text(path.read_text().replace(str(daemon.process.pid), str(os.getpid())))
    assert place.running() is None  # the id is in use again, by another process
    first, written = daemon.log, daemon.log.read_bytes()
    daemon.start()
    assert place.running()["pid"] == daemon.process.pid  # type: ignore[index]  # it runs
    # An old log is not read as the new run's: each has one of its own, and the daemon tells which.
    assert daemon.log != first
    assert first.read_bytes() == written

    async def where(client: Client) -> str:
        assert client.version is not None
        return client.version.log_path

    assert daemon.ask(where) == str(daemon.log) == place.running()["log"]  # type: ignore[index]  # it runs


def test_every_accepted_job_survives_a_kill_and_is_proved_once(new_daemon) -> None:
    daemon = new_daemon()
    address = f"unix://{daemon.home}/d.sock"
    daemon.start("--listen", address)

    async def before() -> tuple[list[str], bytes]:
        async with connect(address) as client:
            ids = [
                await client.submit("multiplier", inputs=INPUT, request_id=f"r{number}", partitions=2)
                for number in range(40)
            ]
            first = await client.result(ids[0])
            return ids, first.partitions[0].proof_json

    ids, first = asyncio.run(before())
    daemon.kill()
    assert place_files(daemon.home), "none was under way when it was killed"
    daemon.start("--listen", address)

    async def after() -> list[pb.JobResult]:
        async with connect(address) as client:
            again = await client.submit("multiplier", inputs=INPUT, request_id="r7", partitions=2)
            assert again == ids[7]
            return await asyncio.gather(*map(client.result, ids))

    results = asyncio.run(after())
    assert {each.state for each in results} == {pb.DONE}
    assert results[0].partitions[0].proof_json == first
    for result in results:
        for part in result.partitions:
            daemon.verify(part.proof_json, part.public_json)
    assert place_files(daemon.home) == []


def place_files(home: Path) -> list[Path]:
    """Inputs."""
    return [path for path in (home / "daemon").iterdir() if path.suffix in (".json", ".wtns")]


def test_sigterm_lets_end_what_runs_and_keeps_what_waits(new_daemon) -> None:
    daemon = new_daemon()
    address = f"unix://{daemon.home}/d.sock"
    daemon.start("--listen", address)

    async def fill() -> list[str]:
        async with connect(address) as client:
            ids = [await client.submit("multiplier", inputs=INPUT, partitions=10) for _ in range(20)]
            await until(client, ids[0], pb.RUNNING, pb.DONE)
            daemon.signal(signal.SIGTERM)
            with pytest.raises(Unavailable, match=r"takes no more jobs|went away|no daemon answers"):
                await submit_for_ever(client)
            return ids

    ids = asyncio.run(fill())
    assert daemon.ended() == 0
    text = daemon.log.read_text()
    assert "multiplier: kept for the next start" in text
    assert "jobs are kept for the next start" in text
    assert "cancelled" not in text
    daemon.start("--listen", address)

    async def rest() -> set[int]:
        async with connect(address) as client:
            return {(await client.result(each)).state for each in ids}

    assert asyncio.run(rest()) == {pb.DONE}


def test_the_second_signal_ends_it_at_once_and_loses_nothing(new_daemon) -> None:
    daemon = new_daemon()
    address = f"unix://{daemon.home}/d.sock"
    daemon.start("--listen", address)

    async def long_one() -> str:
        async with connect(address) as client:
            job_id = await client.submit("multiplier", inputs=INPUT, partitions=LONG)
            await until(client, job_id, pb.RUNNING)
            return job_id

    job_id = asyncio.run(long_one())
    daemon.signal(signal.SIGTERM)
    time.sleep(0.2)
    daemon.signal(signal.SIGTERM)
    assert daemon.ended() == 0
    daemon.start("--listen", address)

    async def there() -> int:
        async with connect(address) as client:
            state = (await client.result(job_id, timeout_s=0.01)).state
            await client.cancel(job_id)
            assert (await client.result(job_id)).state == pb.CANCELLED
            return state

    assert asyncio.run(there()) in (pb.ACCEPTED, pb.RUNNING)


def test_a_client_of_a_daemon_that_stopped_is_told_and_does_not_hang(new_daemon) -> None:
    daemon = new_daemon().start()

    async def wait(stopped: asyncio.Event) -> None:
        async with connect(daemon.address, silence_s=2.0) as client:
            job_id = await client.submit("multiplier", inputs=INPUT, partitions=LONG)
            daemon.signal(signal.SIGSTOP)
            stopped.set()
            await client.result(job_id)

    async def bounded() -> None:
        async with asyncio.timeout(60):
            await wait(asyncio.Event())

    try:
        with pytest.raises(Silent, match=r"no sign of life for 2 s: it hangs or was stopped; its log is"):
            asyncio.run(bounded())
    finally:
        daemon.signal(signal.SIGCONT)
        daemon.kill()


def test_a_full_queue_says_when_to_come_again_and_takes_more_once_there_is_room(new_daemon) -> None:
    daemon = new_daemon("queue_limit = 2").start()

    async def fill(client: Client) -> tuple[float, int]:
        ids = [await client.submit("multiplier", inputs=INPUT, partitions=LONG) for _ in range(2)]
        inputs = place_files(daemon.home)  # which nobody else may read
        assert [path.stat().st_mode & 0o777 for path in inputs] == [0o600, 0o600]
        assert inputs[0].parent.stat().st_mode & 0o777 == 0o700
        with pytest.raises(QueueFull) as refused:
            await client.submit("multiplier")
        assert "as many as daemon.queue_limit allows" in str(refused.value)
        for each in ids:
            await client.cancel(each)
            assert (await client.result(each)).state == pb.CANCELLED
        return refused.value.retry_after_s, (await client.prove("multiplier")).state

    retry_after_s, state = daemon.ask(fill)
    assert retry_after_s > 0
    assert state == pb.DONE


def test_a_lease_ends_with_its_client_and_a_result_with_its_time(new_daemon) -> None:
    daemon = new_daemon('keep_results = "4s"').start()

    async def submit(client: Client) -> tuple[str, str]:
        leased = await client.submit("multiplier", inputs=INPUT, partitions=LONG, lease_s=0.5)
        plain = await client.submit("multiplier", inputs=INPUT)
        return leased, plain

    async def look(client: Client, leased: str, plain: str) -> pb.JobState:
        result = await client.result(plain)
        assert result.state == pb.DONE
        ended = await client.result(leased)
        with pytest.raises(UnknownJob, match="results are kept 4 s"):
            await ask_for_ever(client, plain)
        return ended.state

    leased, plain = daemon.ask(submit)
    time.sleep(0.7)  # nobody waits for it
    assert daemon.ask(lambda client: look(client, leased, plain)) == pb.CANCELLED


def test_sighup_changes_what_can_and_says_what_cannot(new_daemon) -> None:
    daemon = new_daemon().start()
    with pytest.raises(Refused):
        daemon.ask(lambda client: client.evict("winning-32g"))
    text = daemon.configure("queue_limit = 7", 'winning-32g = "multiplier"').read_text()
    (daemon.home / "cuzk.toml").write_text(
        text.replace("256MiB", "200MiB").replace('status_listen = "127.0.0.1:0"', 'status_listen = ""')
    )
    daemon.signal(signal.SIGHUP)

    async def changed(client: Client) -> tuple[int, int]:
        async with asyncio.timeout(PATIENCE_S):
            while client.version is None or client.version.queue_limit != 7:
                await client.check()
        return client.version.budget_bytes, (await client.prove("multiplier")).state

    assert daemon.ask(changed) == (200 << 20, pb.DONE)
    daemon.ask(lambda client: client.evict("winning-32g"))  # the kind has a circuit now
    assert "only a restart changes daemon.status_listen\n" in daemon.log.read_text()
    (daemon.home / "cuzk.toml").write_text("[daemon]\nqueue_limt = 3")
    daemon.signal(signal.SIGHUP)
    deadline_s = time.monotonic() + PATIENCE_S
    while "were not reloaded" not in daemon.log.read_text():
        assert time.monotonic() < deadline_s
        time.sleep(0.05)
    assert "did you mean 'daemon.queue_limit'?" in daemon.log.read_text()


def test_circuits_that_are_of_no_use_are_told_at_the_start(new_daemon) -> None:
    kinds = 'snap-32g = "missing"\n[circuits.square]\nzkey = "nokey.zkey"\nwitness = "no.wtns"'
    daemon = new_daemon(more=kinds).start()
    daemon.stop()
    assert daemon.process is not None
    warned = [line for line in daemon.log.read_text().splitlines() if "WARNING" in line]
    assert len(warned) == 2
    assert "circuit 'square' cannot be used: " in warned[0]
    assert "nokey.zkey" in warned[0]
    assert "daemon.circuits.snap-32g: " in warned[1]


def test_systemd_is_told_when_it_is_ready_and_when_it_ends(new_daemon) -> None:
    import socket

    daemon = new_daemon()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.bind(str(daemon.home / "notify"))
        channel.settimeout(PATIENCE_S)
        daemon.environment = {"NOTIFY_SOCKET": str(daemon.home / "notify"), "WATCHDOG_USEC": "200000"}
        daemon.start()
        assert channel.recv(1000).startswith(b"READY=1\nSTATUS=listening on ")
        assert channel.recv(1000) == b"WATCHDOG=1"
        daemon.stop()
        words = set()
        while b"STOPPING=1" not in words:
            words.add(channel.recv(1000))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--lisen", "127.0.0.1:0"], "--listen"),
        (["--listen", "0.0.0.0:0"], "it needs daemon.tls_cert and daemon.tls_key, and daemon.token_file"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    new_daemon,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    said: str,
) -> None:
    home = new_daemon().home
    done = caller(monkeypatch, capsys, home, home / "cuzk.toml")("daemon", *options)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
