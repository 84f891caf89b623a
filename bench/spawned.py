"""A daemon of a bench's own, as a process: it ends with its standard input, and so with the bench.

Run as a module, with the address, the budget and the settings' file; the last two may be empty.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
from pathlib import Path

from config import Config, ConfigError, load_config, parse_budget
from daemon.errors import DaemonError
from daemon.run import Start, run
from db import HistoryError
from engine import EngineError

_released = threading.Event()  # nobody holds the other end of stdin any more


def main(address: str, budget: str, settings: str) -> None:
    """Be a daemon until nobody holds the other end of stdin; the folder of its socket goes with it."""
    threading.Thread(target=_end_with_input, name="end-with-input", daemon=True).start()
    try:
        config = _config(address, budget, settings)
        start = Start(
            config, lambda: config, lambda line: print(line, flush=True), folder=_folder(address) / "daemon"
        )
        run(start)
    except (ConfigError, DaemonError, EngineError, HistoryError) as error:
        sys.exit(" ".join(str(error).split()))
    finally:
        if _released.is_set():  # whoever held stdin may have been killed
            shutil.rmtree(_folder(address), ignore_errors=True)


def _folder(address: str) -> Path:
    """In which its socket is, and all that is its alone."""
    return Path(address.removeprefix("unix://")).parent


def _config(address: str, budget: str, settings: str) -> Config:
    config = load_config(Path(settings) if settings else None)
    own = config.daemon.model_copy(update={"listen": address, "status_listen": ""})
    changed: dict[str, object] = {"daemon": own}
    if budget:
        changed["memory"] = config.memory.model_copy(update={"total_budget": parse_budget(budget)})
    return config.model_copy(update=changed)


def _end_with_input() -> None:
    while os.read(sys.stdin.fileno(), 1024):
        pass
    _released.set()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main(*sys.argv[1:])
