"""Opening a history: an SQLite file that is made where there is none, or a PostgreSQL database."""

import errno
import sqlite3
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISDIR
from types import TracebackType
from typing import Self

from sqlalchemy import URL, Engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from db.connect import CHOOSE_ANOTHER, connect, impatient, parse_address, reason, remedy, shown
from db.digest import digest
from db.errors import HistoryError, NoHistory
from db.hiding import Kind, hider
from db.interrupted import close_interrupted
from db.packing import pack_ended_runs, pack_going_on
from db.schema import bring_to_head
from db.spool import Spool, import_left
from db.writer import HistoryWriter

_LOCK_TIMEOUT_S = 0.25  # of what can be done later as well
_ANSWER_TIMEOUT_S = 8.0


class History:
    """An open history. `address` is its path or its URL without the password; `engine` is SQLAlchemy's.

    `spool`: the folder where records are kept while the database is away. `hide`: of what only digests are
    recorded.
    """

    def __init__(self, address: str, engine: Engine, spool: Path, hide: Collection[Kind] = ()) -> None:
        self.address = address
        self.engine = engine
        self.spool = spool
        self._hide = hider(hide)
        self._written = False

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A session for queries; rows stay usable after it. Raises HistoryError where the database fails."""
        with self.told(), Session(self.engine, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def told(self) -> Iterator[None]:
        """What the database says against what the block does is raised as HistoryError, in one line."""
        try:
            yield
        except SQLAlchemyError as error:
            raise HistoryError(f"{self.address}: {reason(error)}") from error

    def writer(self) -> HistoryWriter:
        """A new writer with its own thread; close it before the history."""
        self._written = True
        engine = impatient(self.engine, _LOCK_TIMEOUT_S, _ANSWER_TIMEOUT_S)
        return HistoryWriter(engine, self.address, Spool(self.spool), self._hide)

    def close_interrupted(self) -> list[str]:
        """Close the runs of this host whose process has died, as opening does, and return their ids."""
        return close_interrupted(self.engine)

    def pack(self) -> None:
        """Pack the runs that are over, as opening does. What cannot be done is left to the next opening."""
        with suppress(SQLAlchemyError):
            pack_ended_runs(impatient(self.engine, _LOCK_TIMEOUT_S))

    def pack_going_on(self, run_id: str) -> None:
        """Pack what a run of this process has behind it. What cannot be done is left to its end."""
        with suppress(SQLAlchemyError):
            pack_going_on(impatient(self.engine, _LOCK_TIMEOUT_S), run_id)

    def close(self) -> None:
        """Pack the runs that were written here, and close all connections."""
        if self._written:
            self.pack()
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_history(
    address: str | Path,
    *,
    create: bool = True,
    spool: Path | None = None,
    hide: Collection[Kind] = (),
    otherwise: str = CHOOSE_ANOTHER,
) -> History:
    """Open the history at a path, `sqlite:///PATH` or `postgresql://USER@HOST/DATABASE`, to read and write.

    Makes what is missing (folder, file, tables), migrates what is old, imports what was kept in `spool` while
    it was away, closes runs whose process died, and packs those that are over. `spool`: a folder; None: one
    beside the SQLite file, or among temporary files for PostgreSQL. `hide`: "paths" and "hosts", of which
    only digests are recorded. `otherwise`: what to do where this one cannot be used, for its errors.
    Without `create` nothing is made, and NoHistory raised where there is no history yet.
    Raises HistoryError, one line, for what cannot be read or written, is of another program, or is newer.
    """
    url = parse_address(address)
    if url.drivername == "sqlite":
        if _is_folder(url):
            raise HistoryError(f"{shown(url)}: is a folder, expected the path of a file; {otherwise}")
        if not create and _is_missing(url):
            raise NoHistory(f"no runs yet in {shown(url)}")
        _make_folder(url, otherwise)
    engine, spool = connect(url), spool_folder(url, spool)
    try:
        bring_to_head(engine, create)
        import_left(engine, spool)
        close_interrupted(engine)
        pack_ended_runs(engine)
    except NoHistory as error:
        engine.dispose()
        raise NoHistory(f"no runs yet in {shown(url)}") from error
    except HistoryError as error:
        engine.dispose()
        raise HistoryError(f"{shown(url)}: {error}; {otherwise}") from error
    except (SQLAlchemyError, sqlite3.Error) as error:
        engine.dispose()
        raise HistoryError(
            f"{shown(url)}: cannot be used as the history: {reason(error)}; {remedy(error, otherwise)}"
        ) from error
    return History(shown(url), engine, spool, hide)


def spool_folder(url: URL, given: Path | None) -> Path:
    """The folder for records that are meant for `url` and no other."""
    if url.drivername == "sqlite":
        return Path(f"{url.database}-spool")
    return (given or Path(tempfile.gettempdir()) / "cuzk-history-spool") / digest(shown(url))


def _is_missing(url: URL) -> bool:
    try:
        Path(url.database or "").stat()
    except FileNotFoundError:
        return True
    except OSError:  # opening it will say so
        return False
    return False


def _is_folder(url: URL) -> bool:
    with suppress(OSError):  # opening it will say so
        return S_ISDIR(Path(url.database or "").stat().st_mode)
    return False


def _make_folder(url: URL, otherwise: str) -> None:
    folder = Path(url.database or "").parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        first = "free space on its disk, or " if error.errno in (errno.ENOSPC, errno.EDQUOT) else ""
        raise HistoryError(
            f"{shown(url)}: its folder cannot be made: {error.strerror}; {first}{otherwise}"
        ) from error
