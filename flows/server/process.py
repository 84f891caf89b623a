"""The local Prefect server's own process: `prefect server start`, until nobody uses it any more.

Run as a file, with the path of a lock file and the arguments for `prefect`. Each user of the server holds a
shared lock on that file, which the system takes back however the user ends, SIGKILL included. Once nobody
holds one the server stops, and keeps the file locked until it is gone, so that no one joins a dying server.
One that `server.json` beside the lock says is to stay does not stop.
"""

import fcntl
import gc
import json
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

LOOK_EVERY_S = 1.0
STOP_WITHIN_S = 10.0
NICE = 3  # proofs go first where processors are too few for both, but a cancel in the UI waits little


def stop_when_unused(lock_path: Path) -> None:
    """Wait until the lock is free, then end this process, by force if it does not end by itself."""
    with lock_path.open() as lock:
        while True:
            time.sleep(LOOK_EVERY_S)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:  # in use
                continue
            if not _stays(lock_path.with_name("server.json")):
                break
            fcntl.flock(lock, fcntl.LOCK_UN)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(STOP_WITHIN_S)
        os._exit(1)


def _stays(note: Path) -> bool:
    """Whether the note is of this process and says so."""
    try:
        said = json.loads(note.read_text())
        return bool(said["pid"] == os.getpid() and said["stays"])
    except (OSError, ValueError, KeyError, TypeError):
        return False


def be_nice() -> None:
    """Let other processes go first, those of other sessions too.

    Linux may share processors out among sessions before it looks at processes, and this is one of its own.
    """
    os.nice(NICE)
    with suppress(OSError):  # it does not, here
        Path("/proc/self/autogroup").write_text(str(NICE))


def main() -> None:
    """Start the watch, then become `prefect` with the rest of the arguments."""
    lock_path, *arguments = sys.argv[1:]
    threading.Thread(target=stop_when_unused, args=(Path(lock_path),), daemon=True).start()
    # The imports make a million objects that all stay; looking for garbage among them takes a quarter longer.
    gc.disable()
    import prefect.server.api.server  # noqa: F401 loaded here so that the collector is off meanwhile
    from prefect.cli import app

    from flows.server.write_first import write_first

    gc.freeze()
    gc.enable()
    write_first()
    be_nice()
    sys.argv = ["prefect", *arguments]
    app()


if __name__ == "__main__":
    main()
