"""Times as people say them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from config import ConfigError
from flows.parameters.due import due_at, refuse_past

NOW = datetime(2027, 1, 30, 22, 15, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8h", datetime(2027, 1, 31, 4, 15, tzinfo=UTC)),
        ("23:00", datetime(2027, 1, 30, 21, 0, tzinfo=UTC)),
        ("6:00", datetime(2027, 1, 31, 4, 0, tzinfo=UTC)),
        ("22:15", datetime(2027, 1, 31, 20, 15, tzinfo=UTC)),
        ("2027-02-01T06:00", datetime(2027, 2, 1, 4, 0, tzinfo=UTC)),
        ("2027-02-01 06:00+01:00", datetime(2027, 2, 1, 5, 0, tzinfo=UTC)),
    ],
)
def test_a_time_a_duration_and_a_date_are_moments(text: str, expected: datetime) -> None:
    assert due_at(text, NOW) == expected


@pytest.mark.parametrize(
    "text", ["", "soon", "25:00", "06:61", "2027-13-01", "8", "2027", "20270201", "0001-01-01"]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="expected a time such as"):
        due_at(text, NOW)


def test_a_time_that_has_passed_is_refused() -> None:
    for to_come in (None, "8h", "22:15", "2027-01-31"):
        refuse_past(to_come, NOW)
    with pytest.raises(ConfigError, match=r"^due: 2020-01-01T06:00 had passed when"):
        refuse_past("2020-01-01T06:00", NOW)
