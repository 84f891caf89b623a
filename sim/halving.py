"""The first or last of many values that does, with few tried."""

from collections.abc import Callable

FIRST_STEP = 2


def first(count: int, does: Callable[[int], bool]) -> int | None:
    """The first place from which on it does."""
    low, high = 0, count - 1
    if not does(high):
        return None
    if does(low):
        return low
    return _halved(low, high, does)


def last(count: int, does: Callable[[int], bool], start: int) -> int | None:
    """The last place up to which it does. Too much is dear to try, so it goes up from `start` by degrees."""
    step = FIRST_STEP if does(start) else -FIRST_STEP
    place = start
    while True:
        beyond = min(max(place + step, 0), count - 1)
        if does(beyond) is not (step > 0):
            good, bad = (place, beyond) if step > 0 else (beyond, place)
            return _halved(bad, good, does)
        if beyond in (0, count - 1):
            return beyond if step > 0 else None
        place, step = beyond, 2 * step


def _halved(bad: int, good: int, does: Callable[[int], bool]) -> int:
    """The place next to one that does not, between one that does not and one that does."""
    while abs(good - bad) > 1:
        middle = (bad + good) // 2
        if does(middle):
            good = middle
        else:
            bad = middle
    return good
