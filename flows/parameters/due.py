"""When a batch should be done, as people say it: after a while, at an hour, or at a date."""

import re
from datetime import UTC, datetime, time, timedelta

from config import ConfigError, parse_duration

_HOUR = re.compile(r"\s*([0-9]{1,2}):([0-9]{2})\s*")
_DAY = timedelta(days=1)


def due_at(text: str, now: datetime) -> datetime:
    """The moment meant by `text`, in UTC: "8h" after `now`, the next "06:00", or "2027-01-31 06:00".

    A bare number is refused: it may be meant in hours as well as in seconds.
    An hour and a date without an offset are in the zone of `now`. Raises ConfigError for anything else.
    """
    if hour := _HOUR.fullmatch(text):
        return _next(int(hour[1]), int(hour[2]), now, text)
    try:
        return (now + timedelta(seconds=parse_duration(text))).astimezone(UTC)
    except ConfigError:
        pass
    try:
        if text.strip().isdigit():  # "20270131" were a date to Python
            raise ValueError
        found = datetime.fromisoformat(text.strip())
        return (found if found.tzinfo else found.replace(tzinfo=now.tzinfo)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise _unknown(text) from None


def refuse_past(text: str | None, asked_at: datetime) -> None:
    """Raise ConfigError for a time that had passed when it was asked for."""
    if text is not None and due_at(text, asked_at) <= asked_at:
        raise ConfigError(
            f"due: {text} had passed when the batch was asked for; give a time to come, or none"
        )


def _next(hour: int, minute: int, now: datetime, text: str) -> datetime:
    try:
        found = datetime.combine(now.date(), time(hour, minute), now.tzinfo)
    except ValueError:
        raise _unknown(text) from None
    return (found if found > now else found + _DAY).astimezone(UTC)


def _unknown(text: str) -> ConfigError:
    return ConfigError(
        f'found {text!r}, expected a time such as "06:00", a duration such as "8h", or a date such as '
        '"2027-01-31T06:00"'
    )
