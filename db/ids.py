"""Identifiers that sort by the time they were made and never clash between hosts."""

import secrets
import threading
import time
import uuid
from datetime import datetime

_lock = threading.Lock()
_last_tick = 0


def new_id() -> str:
    """A UUID of version 7 (RFC 9562) as text; later ones of a process sort after earlier ones.

    The 12 bits after the version count 1/4096 ms (the RFC's method 3); a used tick gives way to the next.
    """
    global _last_tick
    with _lock:
        _last_tick = max(time.time_ns() * 4096 // 1_000_000, _last_tick + 1)
        tick = _last_tick
    return _of(tick, secrets.randbits(62))


def first_id(moment: datetime) -> str:
    """What sorts before every id of that moment or later, and after those of earlier ones."""
    return _of(round(moment.timestamp() * 1000) * 4096, 0)


def _of(tick: int, rest: int) -> str:
    milliseconds, fraction = divmod(tick, 4096)
    return str(uuid.UUID(int=milliseconds << 80 | 0x7 << 76 | fraction << 64 | 0b10 << 62 | rest))
