"""A process is told from another by its id and its start."""

import os
import subprocess
import sys
import time
from datetime import timedelta

from db.process import is_alive, this_process_started_at

PAUSE = [sys.executable, "-c", "import time; print(flush=True); time.sleep(60)"]


def test_this_process_is_alive() -> None:
    assert is_alive(os.getpid(), this_process_started_at())


def test_another_process_with_the_same_id_is_not_it() -> None:
    assert not is_alive(os.getpid(), this_process_started_at() - timedelta(seconds=10))


def test_a_killed_process_is_dead_even_before_its_parent_took_note() -> None:
    with subprocess.Popen(PAUSE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        started_at = this_process_started_at() + timedelta(
            seconds=time.time() - this_process_started_at().timestamp()
        )
        assert is_alive(process.pid, started_at)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # dead, yet still a zombie
        assert not is_alive(process.pid, started_at)
        process.wait()
    assert not is_alive(process.pid, started_at)
