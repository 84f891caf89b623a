"""Sizes and durations as people write them: "2GiB", "1.5 GB", "5m", "1h30m"."""

import re
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from config.errors import ConfigError

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_SIZE_UNITS = {
    "": 1,
    **{unit.casefold(): 1024**power for power, unit in enumerate(_BINARY)},
    **{unit.casefold(): 1000**power for power, unit in enumerate(("B", "KB", "MB", "GB", "TB", "PB"))},
}
_DURATION_UNITS = {
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "m": Fraction(60),
    "h": Fraction(3600),
    "d": Fraction(86400),
}

_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_SIZE = re.compile(rf"\s*({_NUMBER})\s*([A-Za-z]*)\s*")
_BITS = re.compile("[KMGTP][Ii]?b")
_DURATION_PART = re.compile(rf"({_NUMBER})\s*(ms|s|m|h|d)\s*")
_DURATION = re.compile(rf"\s*(?:{_DURATION_PART.pattern})+")

_MAX_BYTES = 2**63 - 1  # what a database column and a C size hold
_MAX_SECONDS = 100 * 365 * 86400


def parse_size(text: str | int, *, needs_unit: bool = True) -> int:
    """Bytes meant by `text`: a number with B, KiB, MiB, GiB, TiB, PiB (powers of 1024) or KB … PB (of 1000).

    Upper and lower case are the same, but for a small b after a capital letter: so bits are written, and it
    is refused. A fraction of a byte is cut off. A bare number but 0 is refused, as people who type 5 mean
    gigabytes; needs_unit: False: it counts bytes, as a program's do.
    Raises ConfigError where it is no size, is negative, or does not fit 63 bits.
    """
    match = _SIZE.fullmatch(str(text)) if not isinstance(text, bool) else None
    factor = _SIZE_UNITS.get(match[2].casefold()) if match else None
    if match is None or factor is None:
        raise ConfigError(f'found {text!r}, expected a size such as "2GiB" or "512MiB"')
    if _BITS.fullmatch(match[2]):
        raise ConfigError(f"found {text!r}, which is in bits; expected bytes: {bytes_of_bits(str(text))}")
    if needs_unit and not match[2] and Fraction(match[1]):
        raise ConfigError(f'found {text!r}, expected a size with its unit such as "{match[1]}GiB"')
    size_bytes = int(Fraction(match[1]) * factor)
    if size_bytes > _MAX_BYTES:
        raise ConfigError(f"found {text!r}, expected a size below 8192PiB")
    return size_bytes


def bytes_of_bits(text: str) -> str | None:
    """A number of bits, such as "10Gb", in bytes: "1.25GB". None: it is no number with such a unit."""
    found = _SIZE.fullmatch(text)
    if found is None or not found[2] or found[2].casefold() not in _SIZE_UNITS:
        return None
    number = f"{Decimal(found[1]) / 8:f}"
    number = number.rstrip("0").rstrip(".") if "." in number else number
    return f"{number}{found[2][:-1].capitalize()}B"


def parse_budget(text: str | int, *, needs_unit: bool = True) -> int | Literal["auto"]:
    """Bytes meant by `text`, as `parse_size`, and at least one; or "auto" itself. Raises ConfigError."""
    if text == "auto":
        return "auto"
    try:
        size_bytes = parse_size(text, needs_unit=needs_unit)
    except ConfigError as error:
        raise ConfigError(f'{error}, or "auto"') from error
    if size_bytes == 0:
        raise ConfigError(f'found {text!r}, expected a size above zero such as "2GiB", or "auto"')
    return size_bytes


def format_size(size_bytes: int) -> str:
    """`size_bytes` in the largest unit of 1024 that keeps it at 1 or above: "2GiB", "1.46GiB", "0B".

    At most two decimals; what it returns can be read back by `parse_size`, to within that rounding.
    """
    power = min(max(abs(size_bytes).bit_length() - 1, 0) // 10, len(_BINARY) - 1)
    number = f"{size_bytes / 1024**power:.2f}".rstrip("0").rstrip(".")
    return f"{number}{_BINARY[power]}"


def format_size_up(size_bytes: int) -> str:
    """`size_bytes` or a little more, in whole units, ten or more of them: "26MiB", "1229MiB" for 1.2 GiB."""
    power = min(max(0, (size_bytes // 10).bit_length() - 1) // 10, len(_BINARY) - 1)
    return f"{-(-size_bytes // 1024**power)}{_BINARY[power]}"


def parse_duration(text: str | float, *, needs_unit: bool = True) -> float:
    """Seconds meant by `text`: "250ms", "300s", "5m", "1h30m", "2d".

    A bare number is refused, as people type days as likely as seconds; needs_unit: False: it counts seconds.
    Raises ConfigError where it is no duration, is negative, or is above 100 years.
    """
    given = text
    if not isinstance(text, str):
        text = "" if isinstance(text, bool) else repr(text)
    if re.fullmatch(rf"\s*{_NUMBER}\s*", text):
        seconds = Fraction(text.strip())
        if needs_unit:
            raise ConfigError(f'found {given!r}, expected a duration with its unit such as "30m" or "25s"')
    elif _DURATION.fullmatch(text):
        seconds = sum(
            (Fraction(number) * _DURATION_UNITS[unit] for number, unit in _DURATION_PART.findall(text)),
            start=Fraction(0),
        )
    else:
        raise ConfigError(f'found {given!r}, expected a duration such as "5m" or "300s"')
    if seconds > _MAX_SECONDS:
        raise ConfigError(f"found {given!r}, expected a duration of at most 100 years")
    return float(seconds)
