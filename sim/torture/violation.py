"""A rule that was broken, by its number in the list of `sim.torture.rules`."""


class ViolationError(Exception):
    """`rule` is 1 to 7, or 0 for what no rule names: an error of the policy, a stall, another log."""

    def __init__(self, rule: int, what: str) -> None:
        super().__init__(f"rule {rule}: {what}" if rule else what)
        self.rule = rule


def expect(rule: int, holds: bool, what: str, *values: object) -> None:
    """Unlike `assert` it also holds under `python -O`; the text is made only where it is needed."""
    if not holds:
        raise ViolationError(rule, what % values)
