"""What cannot be simulated, in one line that says what to do."""


class SimError(Exception):
    """A profile, workload or recorded run that cannot be used."""


class UnplayableError(SimError):
    """A machine that is well described, and on which the workload cannot be played."""


class NoEffectError(UnplayableError):
    """A setting by which nothing changes; `key` is its name."""

    def __init__(self, key: str, why: str) -> None:
        super().__init__(why)
        self.key = key
