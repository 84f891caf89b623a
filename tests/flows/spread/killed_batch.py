"""A batch on two hosts whose own process is killed, and the run that takes it up."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.flows.served import Host
from tests.flows.spread.two_hosts import Both, holds_still, on_their_way, rows
from tests.flows.support import ask, eventually, start_batch

COUNT, PARTITIONS = 100, 3


@dataclass(frozen=True)
class Resumed:
    """The flow runs of the batch that was killed and of the one that took it up, and its folder and lines."""

    killed: str
    run: str
    output: Path
    lines: str


def killed_and_resumed(both: Both, output: Path) -> Resumed:
    """The killed batch's shares stand still from when they have sent what nobody reads, until it is known
    to have crashed: else they might have made all before.
    """
    ((first, _), _) = both
    killed = _started(first, circuit="sample", partitions=PARTITIONS, count=COUNT, output=output)
    assert eventually(lambda: any(output.glob("*/proof_1.json")) or killed.poll() is not None)
    assert killed.poll() is None, killed.communicate()
    run = _under_way(first)
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    assert eventually(lambda: on_their_way(first, run) != [])
    assert first.state(run) == "RUNNING", "nobody knows"
    ((run_id,),) = rows(first, f"SELECT id FROM run WHERE flow_run_id = '{run}'")
    with _suspended(both):
        taking_up = _started(first, resume=run_id)
        assert eventually(lambda: first.state(run) == "CRASHED" or taking_up.poll() is not None)
        assert taking_up.poll() is None, taking_up.communicate()
    lines, errors = taking_up.communicate()
    assert taking_up.returncode == 0, errors
    return Resumed(run, lines.split()[-2], output, lines)


def _started(on: Host, **parameters: object) -> "subprocess.Popen[str]":
    """A batch on both hosts, by a process of its own on this one."""
    hosts, settings = ["host-1", "host-2"], on.home / "cuzk.toml"
    return start_batch(on.home, on.api_url, hosts=hosts, concurrency=2, config=settings, **parameters)


def _under_way(on: Host) -> str:
    """The flow run of the only batch that runs."""
    batches, running = {"name": {"any_": ["prove_batch"]}}, {"state": {"type": {"any_": ["RUNNING"]}}}
    (found,) = ask(on.api_url, "flow_runs/filter", flows=batches, flow_runs=running)
    return str(found["id"])


@contextmanager
def _suspended(both: Both) -> Iterator[None]:
    """Inside the block the processes of the hosts' runs stand still."""
    processes = [each for _, worker in both for each in psutil.Process(worker.pid).children()]
    holds_still(processes, [on.home for on, _ in both])
    try:
        yield
    finally:
        for each in processes:
            each.resume()
