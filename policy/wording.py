"""Numbers in the sentences that people read."""

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def bytes_text(size_bytes: int) -> str:
    """Three digits or more and a binary unit: "13.6 GiB", "950 MiB", "12 B"."""
    unit = min((size_bytes.bit_length() - 1) // 10, len(_UNITS) - 1)
    if unit <= 0:
        return f"{size_bytes} B"
    size = size_bytes / (1 << 10 * unit)
    return f"{size:.0f} {_UNITS[unit]}" if abs(size) >= 100 else f"{size:.1f} {_UNITS[unit]}"


def count_text(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
