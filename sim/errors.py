"""What cannot be simulated, in one line that says what to do."""


class SimError(Exception):
    """A profile, workload or recorded run that cannot be used."""
