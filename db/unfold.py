"""A policy event as rows for SQL: what was decided of partitions and proofs, and happened to the caches."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from db.log_models import CacheEvent, Decision
from db.record import Record

Message = Mapping[str, Any]
Values = dict[str, Any]
Row = tuple[type[Record], Values]


def unfold(logged: Mapping[str, Any], proof_ids: Mapping[str, str]) -> Iterator[Row]:
    """The rows of a policy event, without their run: each a model and its columns.

    `proof_ids`: the ids of proofs by what the log calls them.
    What is not known here, such as a message of a newer version, has no row; the log keeps it all the same.
    """
    for position, message in enumerate([logged["event"], *logged["decisions"]]):
        make = _ROWS.get(message["type"])
        if make is not None:
            model, values = make(message)
            if "proof_id" in values:
                values["proof_id"] = proof_ids.get(values["proof_id"], values["proof_id"])
            place = {"sequence": logged["sequence"], "position": position, "at_s": logged["at_s"]}
            yield model, place | values


def _decision(kind: str, **values: Any) -> Row:
    nothing = {"partition_index": None, "reserved_bytes": None, "why": None}
    return Decision, {"kind": kind, **nothing, **values}


def _cache_event(kind: str, entry: str, size_bytes: int | None = None, why: str | None = None) -> Row:
    return CacheEvent, {"kind": kind, "entry": entry, "size_bytes": size_bytes, "why": why, "device": None}


def _on_device(kind: str) -> Callable[[Message], Row]:
    def made(message: Message) -> Row:
        model, values = _of_entry(kind)(message)
        return model, values | {"device": message["device"]}

    return made


def _of_partition(message: Message) -> Values:
    proof_id, index = message["partition"]
    return {"proof_id": proof_id, "partition_index": index}


def _of_entry(kind: str) -> Callable[[Message], Row]:
    return lambda message: _cache_event(kind, message["entry"]["key"], message["entry"]["size_bytes"])


_ROWS: Mapping[str, Callable[[Message], Row]] = {
    "Admit": lambda m: _decision("admit", **_of_partition(m), reserved_bytes=m["reserved_bytes"]),
    "Stop": lambda m: _decision("stop", **_of_partition(m)),
    "Reject": lambda m: _decision("reject", proof_id=m["job_id"], why=m["why"]),
    "Fail": lambda m: _decision("fail", proof_id=m["job_id"], why=m["why"]),
    "Load": _of_entry("load"),
    "Evict": _of_entry("evict"),
    "Upload": _on_device("upload"),
    "EvictFromDevice": _on_device("device_evict"),
    "Loaded": lambda m: _cache_event("loaded", m["entry_key"]),
    "LoadFailed": lambda m: _cache_event("load_failed", m["entry_key"], why=m["why"]),
}
