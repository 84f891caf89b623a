"""The memory budget that the processes of a machine share, kept in a file.

The file is replaced as a whole and only under a lock beside it, so a process may be killed at any moment.
Whoever changes it strikes out processes that are gone, and lets nobody wait for one that is suspended.

While it cannot be written, as on a full disk, nobody new comes in, and those who are in it share what is free
there in equal parts, without a record: the work goes on, and together they still stay within the budget.
"""

from __future__ import annotations

import errno
import fcntl
import json
import logging
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import psutil

from config import home
from engine.alive import is_alive, is_suspended, started
from engine.book import Account, Book
from engine.errors import EngineError
from engine.passing import io_may_pass

if TYPE_CHECKING:
    from config import Config
    from policy import Limits

T = TypeVar("T")

log = logging.getLogger("cuzk.engine")

VERSION = 1
FULL = (errno.ENOSPC, errno.EDQUOT)
# The lock is held for less than a millisecond, unless its holder was suspended in the middle.
LOCKED_AT_MOST_S = 0.1
LOOK_EVERY_S = 0.002


def shared_ledger(config: Config, name: str, limits: Limits) -> Ledger | None:
    """The ledger that the settings name, for this process under that name; None where it is "off".

    Raises EngineError where its folder is missing.
    """
    if config.memory.ledger == "off":
        return None
    path = Path(config.memory.ledger)
    if path.parent != home() and not path.parent.is_dir():  # a slip would share with nobody, without a word
        raise EngineError(f"memory.ledger: {path}: its folder is not there; make it, or name another file")
    return Ledger(path, name, limits.budget_bytes)


class LedgerBusy(EngineError):  # noqa: N818 — a state that passes
    """Another process holds the lock for longer than it should; try again later."""


class Ledger:
    """One process's side of the ledger. Methods raise LedgerBusy, and EngineError where the file is unusable.

    After an error what this process holds is as before.
    """

    def __init__(self, path: Path, name: str, budget_bytes: int) -> None:
        self.path = Path(os.path.realpath(path))  # where links lead, for all processes alike
        self._key = secrets.token_hex(8)
        self._account = Account(os.getpid(), started(os.getpid()), name, budget_bytes)
        self._is_in_it = False  # this process, in the file
        self._is_recorded = True  # what this process holds

    @property
    def share_bytes(self) -> int:
        """What this process holds."""
        return self._account.share_bytes

    @property
    def ticket(self) -> int | None:
        """Whether this process waits, and after whom."""
        return self._account.ticket

    def check(self) -> None:
        """See that the file can be used, without entering this process."""
        with _locked(self.path):
            _read(self.path)

    def join(self) -> None:
        """Enter this process, with nothing yet."""
        self._change(lambda _: None)

    def ask(self, least_bytes: int, most_bytes: int) -> int:
        """See `Book.ask`."""
        return self._change(lambda book: book.ask(self._key, least_bytes, most_bytes))

    def take(self, most_bytes: int) -> int:
        """See `Book.take`."""
        return self._change(lambda book: book.take(self._key, most_bytes))

    def give_back(self, share_bytes: int) -> None:
        """See `Book.give_back`."""
        self._change(lambda book: book.give_back(self._key, share_bytes))

    def withdraw(self) -> None:
        """See `Book.withdraw`."""
        self._change(lambda book: book.withdraw(self._key))

    def resize(self, budget_bytes: int) -> None:
        """This process's own budget is another from now on."""
        self._change(lambda book: book.resize(self._key, budget_bytes))

    def leave(self) -> None:
        """Strike this process out."""
        with _locked(self.path):
            book = _read(self.path)
            book.close(self._key)
            _write(self.path, book)

    def look(self) -> tuple[Book, list[Account]]:
        """The book as it is now, and the accounts of the others."""
        book = self._change(lambda book: book)
        return book, book.others(self._key)

    def _change(self, change: Callable[[Book], T]) -> T:
        with _locked(self.path):
            book, before = self._entered()
            result = change(book)
            if asdict(book) != before:
                try:
                    _write(self.path, book)
                    self._note(True)
                except OSError as error:
                    if not (self._is_in_it and io_may_pass(error)):
                        raise
                    self._note(False, error)
                    book, _ = self._entered()
                    book.total_bytes -= self._part_of_others_bytes()
                    result = change(book)
            self._is_in_it = True
            self._account = book.accounts[self._key]
            return result

    def _entered(self) -> tuple[Book, dict[str, Any]]:
        """The book with what this process holds now, and as the file has it."""
        book = _read(self.path)
        before = asdict(book)
        book.drop(is_gone)
        book.pass_over(lambda account: is_suspended(account.pid))
        if self._key not in book.accounts:  # the first time, or the file was deleted
            book.open(self._key, replace(self._account))
        elif not self._is_recorded:
            book.accounts[self._key] = replace(self._account)
        return book, before

    def _part_of_others_bytes(self) -> int:
        """Of what is free by the file: this process has as large a part as each of them."""
        book = _read(self.path)
        book.drop(is_gone)
        free_bytes = max(0, book.free_bytes)
        return free_bytes - free_bytes // max(1, len(book.accounts))

    def _note(self, is_recorded: bool, error: OSError | None = None) -> None:
        if self._is_recorded and error is not None:
            log.error("%s; until it can be, this process goes on with its part", _unusable(self.path, error))
        elif is_recorded and not self._is_recorded:
            log.warning("%s: shares of memory are recorded there again", self.path)
        self._is_recorded = is_recorded


def is_gone(account: Account) -> bool:
    """Whether the account's process has ended."""
    return not is_alive(account.pid, account.started)


def others_resident_bytes(path: Path) -> int:
    """What live processes of the ledger really have of their shares in memory now, mapped files not counted.

    The machine shows it as taken, though it belongs to the budget that is shared.
    """
    others = [each for each in holders(path) if each.pid != os.getpid()]
    return sum(min(each.share_bytes, _anonymous_bytes(each)) for each in others)


def holders(path: Path) -> list[Account]:
    """The accounts of live processes; the file is only read. Raises EngineError where it is no ledger."""
    return [each for each in _read(path).accounts.values() if not is_gone(each)]


def _anonymous_bytes(account: Account) -> int:
    try:
        memory = psutil.Process(account.pid).memory_info()
    except psutil.Error:  # it has ended meanwhile, or is another user's
        return 0
    return int(memory.rss - getattr(memory, "shared", 0))


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock, which the system takes back however the process ends."""
    lock_path = path.with_suffix(".lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with lock_path.open("a") as lock:
            _lock(lock.fileno(), lock_path)
            yield
    except OSError as error:
        raise _unusable(path, error) from error


def _lock(descriptor: int, lock_path: Path) -> None:
    give_up_s = time.monotonic() + LOCKED_AT_MOST_S
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > give_up_s:
                raise LedgerBusy(f"{lock_path}: another process holds the lock; is one suspended?") from None
            time.sleep(LOOK_EVERY_S)


def _read(path: Path) -> Book:
    if path.exists() and not (path.is_file() or path.is_dir()):  # a pipe would be waited for
        raise _unusable(path, EngineError("it is no regular file"))
    try:
        text = path.read_text()
    except FileNotFoundError:
        return Book()
    except (OSError, UnicodeDecodeError) as error:
        raise _unusable(path, error) from error
    try:
        return _decoded(json.loads(text))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise EngineError(
            f"{path}: is no ledger of memory shares; once no batch runs, delete it, or set memory.ledger to "
            "another path"
        ) from error


def _decoded(found: dict[str, Any]) -> Book:
    if found["version"] != VERSION:
        raise ValueError(f"version {found['version']}, expected {VERSION}")
    accounts = {key: Account(**values) for key, values in found["accounts"].items()}
    return Book(int(found["total_bytes"]), int(found["tickets"]), accounts)


def _write(path: Path, book: Book) -> None:
    temporary = path.with_suffix(".tmp")  # one writer at a time, so one name will do
    temporary.write_text(json.dumps({"version": VERSION, **asdict(book)}, indent=1))
    temporary.replace(path)


def _unusable(path: Path, error: Exception) -> EngineError:
    why = getattr(error, "strerror", None) or error
    first = "make space on its disk, or " if getattr(error, "errno", None) in FULL else ""
    return EngineError(
        f"{path}: memory cannot be shared with other processes by this file ({why}); {first}set "
        'memory.ledger to a file that can be written, or to "off" to share with nobody'
    )
