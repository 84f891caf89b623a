"""A PostgreSQL server that was reached and falls silent, while its host answers for it."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError


@contextmanager
def answered_within(connection: Connection, timeout_s: float) -> Iterator[None]:
    """Raise OperationalError in the block, wherever it waits for the server, once that time is over."""
    over = threading.Event()
    # A descriptor of our own: that of a connection closed meanwhile may be another file's.
    with socket.socket(fileno=os.dup(connection.connection.driver_connection.fileno())) as own:  # type: ignore[union-attr]  # psycopg's
        timer = threading.Timer(timeout_s, _cut, (own, over))
        timer.daemon = True
        timer.start()
        try:
            yield
        except OperationalError as error:
            if not over.is_set():
                raise
            silent = TimeoutError(f"the server has not answered for {timeout_s:g} s")
            raise OperationalError(
                error.statement, error.params, silent, connection_invalidated=True
            ) from error
        finally:
            timer.cancel()
            timer.join()


def _cut(own: socket.socket, over: threading.Event) -> None:
    over.set()
    own.shutdown(socket.SHUT_RDWR)
