"""What the environment says: CUZK_HOME, CUZK_CONFIG, CUZK_HISTORY_URL, and XDG's folders."""

import os
import socket
from contextlib import suppress
from pathlib import Path

from config.errors import ConfigError

DERIVED_LIMIT_BYTES = 8 * 2**30


def environment(name: str) -> str | None:
    """The variable's value, or None where it is not set, or is empty, blank or 0, which name nothing."""
    value = os.environ.get(name, "").strip()
    return None if value in ("", "0") else value


def home() -> Path:
    """The folder of all that is kept: $CUZK_HOME, else $XDG_STATE_HOME/cuzk, else ~/.local/state/cuzk.

    Absolute; not made here. Raises ConfigError where the user has no home folder, and where it cannot be a
    folder because a file is in its place.
    """
    if chosen := environment("CUZK_HOME"):
        return _no_file(_expanded(chosen).absolute(), f"CUZK_HOME={chosen}")
    state = environment("XDG_STATE_HOME")
    if state and Path(state).is_absolute():  # XDG: a relative path is invalid and to be ignored
        return _no_file(Path(state) / "cuzk", f"XDG_STATE_HOME={state}")
    folder = _expanded("~/.local/state/cuzk").absolute()
    return _no_file(folder, str(folder))


def settings_file() -> Path | None:
    """The settings' file where none is named: $CUZK_CONFIG, else ./cuzk.toml if it is there."""
    if chosen := environment("CUZK_CONFIG"):
        return Path(chosen).expanduser()
    beside = Path("cuzk.toml")
    return beside if beside.exists() else None


def param_cache() -> Path:
    """Where keys and what is derived from them are kept, unless the settings say otherwise."""
    return home() / "params"


def ledger() -> Path:
    """The file of the memory that processes share: one for each machine, in `home()`."""
    return home() / f"memory-{socket.gethostname()}.json"


def history_url(configured: str | None) -> str:
    """`configured`, else $CUZK_HISTORY_URL, else the path of the SQLite file history.db in `home()`."""
    return configured or environment("CUZK_HISTORY_URL") or str(home() / "history.db")


def history_file(url: str) -> Path | None:
    """The file that a history's URL names; None: it is a server's."""
    path = url.removeprefix("sqlite:///")
    return None if "://" in path else Path(path).expanduser()


def history_spool() -> Path:
    """Where records wait while a history on a server cannot be written: a folder in `home()`."""
    return home() / "history-spool"


def _no_file(folder: Path, given: str) -> Path:
    for path in (folder, *folder.parents):
        with suppress(PermissionError):  # whoever makes the folder will say so
            if path.exists() and not path.is_dir():
                raise ConfigError(f"{given}: {path} is a file, expected a folder; set CUZK_HOME to a folder")
    return folder


def _expanded(path: str) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise ConfigError(f"{path}: no home folder is known; set CUZK_HOME to a folder") from error
