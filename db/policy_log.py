"""The policy's log of a run that is over, compressed: a tenth of what it takes as rows."""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

PACK = 2_000
"""Events that are compressed together."""


def pack(events: Iterable[Mapping[str, Any]]) -> bytes:
    """Events, each with "sequence", "at_s", "event" and "decisions", as a compressed JSON array of arrays."""
    rows = [[each["sequence"], each["at_s"], each["event"], each["decisions"]] for each in events]
    return zlib.compress(json.dumps(rows, separators=(",", ":")).encode())


def unpack(packed: bytes) -> Iterator[dict[str, Any]]:
    """The events that were packed, in their order."""
    for sequence, at_s, event, decisions in json.loads(zlib.decompress(packed)):
        yield {"sequence": sequence, "at_s": at_s, "event": event, "decisions": decisions}
