"""What all rows have in common: their base class, and how ids and times are kept on each database."""

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar

from sqlalchemy import (
    JSON,
    BigInteger,
    DateTime,
    Dialect,
    Double,
    ForeignKey,
    LargeBinary,
    MetaData,
    String,
    Text,
    TypeDecorator,
    Uuid,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, MappedAsDataclass, mapped_column
from sqlalchemy.types import TypeEngine
from typing_extensions import override

from db.ids import new_id

ID_LENGTH = 36
Json = JSON(none_as_null=True)  # kept as written; PostgreSQL's jsonb would reorder keys


class UtcDateTime(TypeDecorator[datetime]):
    """A time with a zone, kept as UTC; SQLite, which knows no zones, gives it back as UTC too."""

    impl = DateTime(timezone=True)
    cache_ok = True

    @override
    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is not None and value.tzinfo is None:
            raise ValueError(f"{value} has no time zone, expected one: the history keeps UTC")
        return value.astimezone(UTC) if value is not None else None

    @override
    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.astimezone(UTC) if value.tzinfo is not None else value.replace(tzinfo=UTC)


class Id(TypeDecorator[str]):
    """A UUID as text: 36 characters on SQLite, 16 bytes on PostgreSQL, where no other text is an id."""

    impl = String(ID_LENGTH)
    cache_ok = True

    @override
    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        kind = Uuid(as_uuid=False) if dialect.name == "postgresql" else String(ID_LENGTH)
        return dialect.type_descriptor(kind)

    @override
    def bind_processor(self, dialect: Dialect) -> Any:
        return super().bind_processor(dialect) if dialect.name == "postgresql" else None

    @override
    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        if value is None:
            return None
        try:
            return str(uuid.UUID(value))
        except ValueError:
            return str(uuid.UUID(int=0))  # the nil UUID, which nothing has


class Record(MappedAsDataclass, DeclarativeBase):
    """A row of any table."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        str: Text,
        bytes: LargeBinary,
        float: Double,
        int: BigInteger,
        datetime: UtcDateTime,
        Mapping[str, Any]: Json,
    }


def id_column() -> Mapped[str]:
    """A row's own id, a new one by default."""
    return mapped_column(Id, primary_key=True, default_factory=new_id)


def parent(column: str, *, index: bool = True, primary_key: bool = False) -> Mapped[str]:
    """The id of the row that this one belongs to and goes with."""
    key = ForeignKey(column, ondelete="CASCADE")
    return mapped_column(Id, key, index=index, primary_key=primary_key)


def number(*, primary_key: bool = True) -> Mapped[int]:
    """A number that is given by whoever makes the row, counted from 0 among those of one parent."""
    return mapped_column(BigInteger, primary_key=primary_key, autoincrement=False)
