"""Rows to insert and to update, and how many of them become few statements.

Made so that doing it twice is the same as once: a row whose key is there is left alone. So what may have been
committed before a connection broke, or was imported before, can be written again.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Connection, Engine, Table, bindparam, update
from sqlalchemy.exc import InterfaceError, OperationalError

from db.connect import write_transaction
from db.errors import HistoryError
from db.record import Record

AWAY = (OperationalError, InterfaceError)
"""Errors of a database that cannot be reached or has no room, whatever is written to it."""

Key = tuple[Any, ...]
Values = Mapping[str, Any]


@cache
def _key_names(table: Table) -> tuple[str, ...]:
    return tuple(column.key for column in table.primary_key)


@dataclass(slots=True)
class Insert:
    """A new row."""

    table: Table
    values: Values

    @property
    def key(self) -> Key:
        return tuple(map(self.values.get, _key_names(self.table)))


@dataclass(slots=True)
class Update:
    """New values for columns of the row with that key."""

    table: Table
    key: Key
    values: Values


Change = Insert | Update


def table_of(model: type[Record]) -> Table:
    """The model's table."""
    table = model.__table__
    assert isinstance(table, Table)
    return table


def insert_of(row: Record) -> Insert:
    """The row as it is now."""
    table = table_of(type(row))
    return Insert(table, {column.key: getattr(row, column.key) for column in table.columns})


def write(engine: Engine, changes: Sequence[Change], refused: Callable[[Change, Exception], None]) -> None:
    """Commit all; if the database refuses some, then all but those, each of which `refused` is told.

    Raises one of AWAY if the database is away; part of the changes may be written then.
    """
    try:
        with write_transaction(engine) as connection:
            apply(connection, changes)
    except AWAY:
        raise
    except Exception as error:  # whatever a row holds, the others are written
        if len(changes) == 1:
            refused(changes[0], error)
            return
        half = len(changes) // 2
        write(engine, changes[:half], refused)
        write(engine, changes[half:], refused)


def retried(action: Callable[[], None], waits_s: Sequence[float], for_s: float) -> None:
    """Act, and after an error of AWAY once more after each wait, unless that would be later than `for_s`."""
    give_up_s = time.monotonic() + for_s
    for wait_s in waits_s:
        try:
            return action()
        except AWAY:
            if time.monotonic() + wait_s > give_up_s:
                raise
            time.sleep(wait_s)
    return action()


def apply(connection: Connection, changes: Sequence[Change]) -> None:
    """Write all within the connection's transaction, parents before children.

    Raises what the database raises, and HistoryError where there is no row to update.
    """
    inserts, updates = _folded(changes)
    order = {table: position for position, table in enumerate(Record.metadata.sorted_tables)}
    for (table, _, changed), rows in sorted(inserts.items(), key=lambda group: order[group[0][0]]):
        connection.execute(_insert(connection.dialect.name, table, changed), rows)
    for (table, names), rows in updates.items():
        if connection.execute(_update(table, names), rows).rowcount != len(rows):
            ids = ", ".join(repr(row["key_0"]) for row in rows[:3])
            raise HistoryError(f"there is no {table.name} {ids} to update")


Names = tuple[str, ...]
Rows = list[dict[str, Any]]


def _folded(
    changes: Sequence[Change],
) -> tuple[dict[tuple[Table, Names, Names], Rows], dict[tuple[Table, Names], Rows]]:
    """Rows to insert, by their table, columns, and columns that an update has changed since; and updates."""
    new: dict[tuple[Table, Key], dict[str, Any]] = {}
    changed: dict[tuple[Table, Key], dict[str, Any]] = defaultdict(dict)
    for change in changes:
        place = (change.table, change.key)
        if isinstance(change, Insert):
            new.setdefault(place, dict(change.values))
        else:
            changed[place].update(change.values)
    inserts: dict[tuple[Table, Names, Names], Rows] = defaultdict(list)
    updates: dict[tuple[Table, Names], Rows] = defaultdict(list)
    for (table, key), values in new.items():
        later = changed.pop((table, key), {})
        inserts[table, tuple(sorted(values | later)), tuple(sorted(later))].append(values | later)
    for (table, key), values in changed.items():
        row = {f"key_{position}": part for position, part in enumerate(key)}
        row |= {f"new_{name}": value for name, value in values.items()}
        updates[table, tuple(sorted(values))].append(row)
    return inserts, updates


@cache
def _insert(dialect: str, table: Table, changed: Names) -> Any:
    """An insert that, where the row is there, sets what has been changed since and leaves the rest alone."""
    insert: Any
    if dialect == "sqlite":  # of the two only that in use is loaded, which takes long
        from sqlalchemy.dialects.sqlite import insert
    else:
        from sqlalchemy.dialects.postgresql import insert
    statement = insert(table)
    if not changed:
        return statement.on_conflict_do_nothing()
    values = {name: statement.excluded[name] for name in changed}
    return statement.on_conflict_do_update(index_elements=list(table.primary_key), set_=values)


@cache
def _update(table: Table, names: Names) -> Any:
    statement = update(table).values({name: bindparam(f"new_{name}") for name in names})
    for position, column in enumerate(table.primary_key):
        statement = statement.where(column == bindparam(f"key_{position}"))
    return statement
