"""Events, decisions and limits as JSON-able values and back, for the recorded log of a run.

A message is its fields and its class name under "type"; a partition is [job id, index], a priority its name.
A field that is not there has its default, as in a message of a version that did not know it.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from types import NoneType, UnionType
from typing import Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from policy.decisions import Decision
from policy.errors import CodecError
from policy.events import Event
from policy.model import Limits, PartitionId, Priority

Json = dict[str, Any]
_T = TypeVar("_T")
_EVENTS: dict[str, type] = {kind.__name__: kind for kind in get_args(Event)}
_DECISIONS: dict[str, type] = {kind.__name__: kind for kind in get_args(Decision)}


class _Shape(NamedTuple):
    """Of a message: the type of each field, and the names of those without default."""

    hints: dict[str, Any]
    needed: set[str]


_SHAPES: dict[type, _Shape] = {}  # as found once: to ask the class each time costs more than all else


def encode_event(event: Event) -> Json:
    return {"type": type(event).__name__, **_fields_of(event)}


def encode_decision(decision: Decision) -> Json:
    return {"type": type(decision).__name__, **_fields_of(decision)}


def encode_limits(limits: Limits) -> Json:
    return _fields_of(limits)


def decode_event(value: Mapping[str, Any]) -> Event:
    """Raises CodecError for anything but the value of an event."""
    event: Event = _message(_EVENTS, "event", value)
    return event


def decode_decision(value: Mapping[str, Any]) -> Decision:
    """Raises CodecError for anything but the value of a decision."""
    decision: Decision = _message(_DECISIONS, "decision", value)
    return decision


def decode_limits(value: Mapping[str, Any]) -> Limits:
    """Raises CodecError for anything but the value of limits."""
    return _checked("limits", value, lambda: _instance(Limits, value))


def _message(kinds: Mapping[str, type], what: str, value: Mapping[str, Any]) -> Any:
    def decoded() -> Any:
        named = dict(value)
        return _instance(kinds[named.pop("type")], named)

    return _checked(what, value, decoded)


def _checked(what: str, value: object, decoded: Callable[[], _T]) -> _T:
    try:
        return decoded()
    except (KeyError, TypeError, ValueError) as error:
        raise CodecError(f"{value!r:.200} is no {what}: {error!r}") from error


def _fields_of(message: Any) -> Json:
    return {name: _encode(getattr(message, name)) for name in _shape(type(message)).hints}


def _shape(kind: type) -> _Shape:
    shape = _SHAPES.get(kind)
    if shape is None:
        needed = {field.name for field in fields(kind) if field.default is MISSING}
        shape = _SHAPES[kind] = _Shape(get_type_hints(kind), needed)
    return shape


def _encode(value: Any) -> Any:
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, Priority):
        return value.name.lower()
    if isinstance(value, tuple):  # a PartitionId too
        return [_encode(item) for item in value]
    return _fields_of(value)


def _instance(kind: type[_T], value: Mapping[str, Any]) -> _T:
    hints, needed = _shape(kind)
    if not needed <= value.keys() <= hints.keys():
        raise ValueError(f"its fields are {', '.join(value)}, expected {', '.join(hints)}")
    return kind(**{name: _decode(hints[name], item) for name, item in value.items()})


def _decode(hint: Any, value: Any) -> Any:
    if hint is Priority:
        return Priority[value.upper()]
    if hint is PartitionId:
        job_id, index = value
        return PartitionId(_decode(str, job_id), _decode(int, index))
    if get_origin(hint) is tuple:
        return tuple([_decode(get_args(hint)[0], item) for item in value])
    if isinstance(hint, UnionType):
        return None if value is None else _decode(get_args(hint)[0], value)
    if hint in (bool, int, float, str, NoneType):
        return _scalar(hint, value)
    return _instance(hint, value)


def _scalar(hint: type, value: Any) -> Any:
    if type(value) is hint or (hint is float and type(value) is int):
        return value
    raise TypeError(f"{value!r} where {hint.__name__} was expected")
