"""A short name for a JSON value, the same for the same value whoever writes it."""

import hashlib
import json
from typing import Any


def digest(value: Any) -> str:
    """32 hexadecimal digits (BLAKE2b, RFC 7693) of the value as JSON with sorted keys."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
