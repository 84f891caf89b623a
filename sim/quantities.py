"""Sizes, bandwidths, durations and rates as a profile or workload has them: never without a unit."""

import re
from collections.abc import Callable
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, PlainSerializer, SerializationInfo, ValidationInfo

from config import ConfigError, parse_duration, parse_size
from config.units import bytes_of_bits

_PERCENT = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*%\s*")
_RATE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*/\s*(s|m|h|d)\s*")


def size(value: object) -> int:
    """Bytes meant by "384GiB". Raises ValueError, for a number without unit too."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError(f'found {value!r}, expected a size with its unit such as "384GiB"')
    try:
        return parse_size(value)
    except ConfigError as error:
        raise ValueError(str(error)) from error


def bandwidth(value: object) -> float:
    """Bytes a second meant by "25GB/s". Raises ValueError."""
    if isinstance(value, str) and value.strip().endswith("/s"):
        amount = value.strip().removesuffix("/s").strip()
        _refuse_bits(value, amount)
        bytes_per_s = size(amount)
        if bytes_per_s > 0:
            return float(bytes_per_s)
    raise ValueError(f'found {value!r}, expected bytes a second such as "7GB/s"')


def _refuse_bits(value: str, amount: str) -> None:
    """Unlike sizes, rates are as often told in bits, so that no small b is taken for bytes."""
    as_bits = bytes_of_bits(amount) if amount.endswith("b") else None
    if as_bits is not None:
        raise ValueError(
            f"found {value!r}, whose small b is for bits; expected bytes a second: {as_bits}/s is the same"
        )


def duration(value: object) -> float:
    """Seconds meant by "30m". Raises ValueError, for a number without unit too."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f'found {value!r}, expected a duration with its unit such as "30m" or "25s"')
    try:
        return parse_duration(value)
    except ConfigError as error:
        raise ValueError(str(error)) from error


def passing(seconds: float) -> float:
    """The same, where time passes. Raises ValueError for none, which is as good as a key left out."""
    if seconds <= 0:
        raise ValueError(f"found {seconds:g}s, expected a time that passes")
    return seconds


def rate(value: object) -> float:
    """Times a second meant by "40/d". Raises ValueError."""
    found = _RATE.fullmatch(value) if isinstance(value, str) else None
    if found is None or float(found[1]) == 0:
        raise ValueError(f'found {value!r}, expected a rate such as "40/d" or "2/h"')
    return float(found[1]) / duration(f"1{found[2]}")


def share(value: object) -> float:
    """The share of 1 meant by "1%". Raises ValueError for 1 without the sign, which may mean all of it."""
    found = _PERCENT.fullmatch(value) if isinstance(value, str) else None
    if found is None or float(found[1]) > 100:
        raise ValueError(f'found {value!r}, expected a percentage from 0% to 100% such as "1%"')
    return float(found[1]) / 100


IN_A_FILE = {"in a file": True}
"""The context in which pydantic reads what people wrote; else numbers are bytes and seconds, as in a dump."""


def _unit(suffix: str) -> PlainSerializer:
    """In a file a number is written with its unit, as it is read."""

    def write(value: float, info: SerializationInfo) -> object:
        return value if info.context is None else f"{value:.15g}{suffix}"

    return PlainSerializer(write)


def _from(read: Callable[[object], float]) -> BeforeValidator:
    def check(value: object, info: ValidationInfo) -> object:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return value if is_number and info.context is None else read(value)

    return BeforeValidator(check)


SizeBytes = Annotated[int, _from(size), _unit("B")]
BytesPerSecond = Annotated[float, _from(bandwidth), _unit("B/s")]
DurationS = Annotated[float, _from(duration), _unit("s")]
PassingS = Annotated[DurationS, AfterValidator(passing)]
PerSecond = Annotated[float, _from(rate)]
Share = Annotated[float, _from(share)]
