"""Numbers in the sentences that people read."""

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def bytes_text(size_bytes: int) -> str:
    """Three digits or more and a binary unit: "13.6 GiB", "950 MiB", "12 B"."""
    unit = _unit(size_bytes)
    size = size_bytes / (1 << 10 * unit)
    return f"{size:.0f} {_UNITS[unit]}" if unit == 0 or abs(size) >= 100 else f"{size:.1f} {_UNITS[unit]}"


def bytes_text_up(size_bytes: int) -> str:
    """As `bytes_text`, of a size that is no less: "13.7 GiB" where "13.6 GiB" would be too little."""
    unit = _unit(size_bytes)
    tenths = -(-size_bytes * 10 // (1 << 10 * unit))
    whole = unit == 0 or tenths >= 1000
    return f"{-(-tenths // 10) if whole else tenths / 10} {_UNITS[unit]}"


def _unit(size_bytes: int) -> int:
    return max(0, min((size_bytes.bit_length() - 1) // 10, len(_UNITS) - 1))


def count_text(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
