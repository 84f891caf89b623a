"""JSON of many megabytes, parsed a piece at a time: other threads run between two pieces.

`json.loads` is one call into C, during which no other thread of the interpreter gets on. Here containers are
walked in Python, by the standard library's own scanner, and C parses runs of plain values in arrays.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from json import decoder, scanner
from typing import Any

LARGE_BYTES = 1 << 20  # of which `json.loads` takes some ten milliseconds
PIECE = 1 << 16  # characters, a millisecond's work
PairsHook = Callable[[list[tuple[str, Any]]], Any]


def loads_in_pieces(text: bytes, pairs_hook: PairsHook = dict) -> Any:
    """What `json.loads` gives; pairs_hook: see `object_pairs_hook` there. Raises as it does."""
    try:
        return _decoder(pairs_hook).decode(text.decode(json.detect_encoding(text), "surrogatepass"))
    except (ValueError, RecursionError):
        return json.loads(text, object_pairs_hook=pairs_hook)  # which knows where in the whole it is wrong


def _decoder(pairs_hook: PairsHook) -> json.JSONDecoder:
    made: Any = json.JSONDecoder(object_pairs_hook=pairs_hook)
    made.parse_array = _array
    made.parse_object = decoder.JSONObject  # type: ignore[attr-defined]  # in Python, as below
    made.scan_once = scanner.py_make_scanner(made)  # type: ignore[attr-defined]  # undocumented since 2.6
    checked: json.JSONDecoder = made
    return checked


def _array(text_and_start: tuple[str, int], scan_once: Any) -> tuple[list[Any], int]:
    """The array whose "[" is before the start, and where it ends."""
    text, at = text_and_start
    values: list[Any] = []
    while True:
        end = text.find("]", at, at + PIECE)
        cut = text.rfind(",", at, at + PIECE) if end < 0 else end
        piece = text[at:cut] if cut > at else ""
        if not _is_plain(piece):
            break
        values += json.loads(f"[{piece}]")
        at = cut + 1
        if end >= 0:
            return values, at
    rest, at = decoder.JSONArray((text, at), scan_once)  # type: ignore[attr-defined]  # as above
    if values and not rest:
        raise ValueError("nothing after a comma")
    return values + rest, at


def _is_plain(piece: str) -> bool:
    """Whether it is a run of whole values, none of them a container; sometimes False though it is."""
    containers = "[" in piece or "{" in piece
    return bool(piece.strip()) and not containers and "\\" not in piece and piece.count('"') % 2 == 0
