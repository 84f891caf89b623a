"""Sizes and durations: what people write, and what must be refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config import ConfigError, format_size, format_size_up, parse_duration, parse_size

BYTES = st.integers(0, 2**63 - 1)


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("2GiB", 2 * 2**30),
        ("1.5 gib", 3 * 2**29),
        ("512MiB", 2**29),
        ("3KB", 3000),
        ("10gb", 10**10),
        ("100b", 100),
        ("1TB", 10**12),
        ("0", 0),
        ("1.9B", 1),
        (" 50GB ", 50 * 10**9),
    ],
)
def test_sizes_people_write(text: str | int, size_bytes: int) -> None:
    assert parse_size(text) == size_bytes


@pytest.mark.parametrize("text", ["5", " 1.5 ", 5])
def test_a_number_without_its_unit_is_no_size(text: str | int) -> None:
    with pytest.raises(ConfigError, match="expected a size with its unit such as"):
        parse_size(text)


@pytest.mark.parametrize(
    "text", ["", "GiB", "2 gigs", "-1GiB", "1e3", "2GiB 3MiB", "0x10", "٣GiB", "9PiB9", True, -1]
)
def test_what_is_no_size_is_refused(text: str | int) -> None:
    with pytest.raises(ConfigError, match="expected a size such as"):
        parse_size(text)


@pytest.mark.parametrize(
    ("text", "same"),
    [("10Gb", "1.25GB"), ("256 Gb", "32GB"), ("1.5Mib", "0.1875MiB"), ("8Kb", "1KB"), ("1000Tib", "125TiB")],
)
def test_bits_are_not_taken_for_bytes(text: str, same: str) -> None:
    with pytest.raises(ConfigError, match=f"found '{text}', which is in bits; expected bytes: {same}$"):
        parse_size(text)


def test_a_size_beyond_63_bits_is_refused() -> None:
    assert parse_size(f"{2**63 - 1}B") == 2**63 - 1
    with pytest.raises(ConfigError, match="below 8192PiB"):
        parse_size("8192PiB")


@given(BYTES)
def test_a_programs_number_is_bytes(size_bytes: int) -> None:
    assert parse_size(size_bytes, needs_unit=False) == parse_size(f"{size_bytes}B") == size_bytes


@given(BYTES)
def test_what_is_shown_can_be_read_back(size_bytes: int) -> None:
    shown = parse_size(format_size(size_bytes)) if size_bytes < 2**63 - 2**53 else size_bytes
    assert abs(shown - size_bytes) <= 0.005 * size_bytes + 1  # reading cuts off a fraction of a byte


@given(st.integers(0, 1023), st.integers(0, 4))
def test_whole_units_are_shown_exactly(number: int, power: int) -> None:
    assert parse_size(format_size(number * 1024**power)) == number * 1024**power


@pytest.mark.parametrize(
    ("size_bytes", "text"), [(0, "0B"), (1023, "1023B"), (1024, "1KiB"), (3 * 2**29, "1.5GiB")]
)
def test_the_unit_is_the_largest_that_fits(size_bytes: int, text: str) -> None:
    assert format_size(size_bytes) == text


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5m", 300),
        ("300s", 300),
        ("0s", 0),
        ("250ms", 0.25),
        ("1h30m", 5400),
        ("2d", 172800),
    ],
)
def test_durations_people_write(text: str | float, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "m", "5 x", "-5m", "5m3", "1h 30", True, float("nan"), float("inf"), -1.0, "1e9"]
)
def test_what_is_no_duration_is_refused(text: str | float) -> None:
    with pytest.raises(ConfigError, match="expected a duration such as"):
        parse_duration(text)


@pytest.mark.parametrize("text", ["90", " 5 ", "1.5", 90, "0.0"])
def test_a_duration_without_its_unit_is_refused_where_it_needs_one(text: str | float) -> None:
    assert parse_duration(text, needs_unit=False) >= 0
    with pytest.raises(ConfigError, match="expected a duration with its unit"):
        parse_duration(text)


def test_a_duration_beyond_a_century_is_refused() -> None:
    with pytest.raises(ConfigError, match="at most 100 years"):
        parse_duration("40000d")


@given(st.integers(0, 10**6), st.integers(0, 59), st.integers(0, 59))
def test_parts_of_a_duration_add_up(hours: int, minutes: int, seconds: int) -> None:
    hours %= 800_000
    assert parse_duration(f"{hours}h{minutes}m{seconds}s") == hours * 3600 + minutes * 60 + seconds


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [(0, "0B"), (10239, "10239B"), (26_220_032, "26MiB"), (26 << 20, "26MiB"), (1288490189, "1229MiB")],
)
def test_a_size_rounded_up_is_never_less(size_bytes: int, text: str) -> None:
    assert format_size_up(size_bytes) == text
    assert parse_size(text) >= size_bytes
