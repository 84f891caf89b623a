"""Interrupts that reach us as errors of the library whose code they fell into."""

from __future__ import annotations


def is_interrupt(error: BaseException) -> bool:
    """Whether an interrupt is at the root of it, as a cause or context, in a group, or by its words alone."""
    seen: set[int] = set()
    left: list[BaseException | None] = [error]
    while left:
        each = left.pop()
        if each is None or id(each) in seen:
            continue
        if isinstance(each, KeyboardInterrupt) or KeyboardInterrupt.__name__ in str(each):
            return True
        seen.add(id(each))
        left += [each.__cause__, each.__context__]
        left += each.exceptions if isinstance(each, BaseExceptionGroup) else ()
    return False
