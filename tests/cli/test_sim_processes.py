"""The processes that simulate for a command end with it, however it ends."""

import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from tests.cli.conftest import CUZK

DAYS = """
kind = "open"
duration = "60d"
[[arrivals]]
circuit = "porep-32g"
poisson = "40/d"
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_none_stays_after_a_signal(number: signal.Signals, tmp_path: Path) -> None:
    workload, table = tmp_path / "days.toml", tmp_path / "days.csv"
    workload.write_text(DAYS)
    options = ["-w", workload, "-m", "zen4-96-core-rtx5070ti-755gib", "--seeds", "100", "--csv", table]
    command = [str(CUZK), "sim", "run", *map(str, options)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        children = _at_work(process)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    _, alive = psutil.wait_procs(children, timeout=60)
    assert alive == []
    assert not table.exists()
    if number is not signal.SIGKILL:
        assert process.returncode == 130
        assert said.splitlines()[-1] == "cuzk: interrupted"
        assert "Traceback" not in said


def _at_work(process: "subprocess.Popen[str]") -> list[psutil.Process]:
    """The command's children, once two of them simulate."""
    children: list[psutil.Process] = []
    while sum(child.cpu_times().user > 1 for child in children) < 2:
        assert process.poll() is None
        time.sleep(0.05)
        children = psutil.Process(process.pid).children(recursive=True)
    return children
