"""What daemon and client say when something cannot be done; the message is one line for the user."""


class DaemonError(Exception):
    """Base of this room's errors."""


class NotNow(DaemonError):  # noqa: N818 — a state that passes
    """The daemon cannot start, for a reason that time may heal: whoever starts it may try again."""

    exit_status = 75  # EX_TEMPFAIL of sysexits.h


class Unavailable(DaemonError):  # noqa: N818 — a state, not a malfunction
    """Nobody answers at the address, or the daemon takes nothing more: it ends."""


class Silent(Unavailable):
    """The daemon is there, and does not answer: it hangs, or somebody stopped it."""


class QueueFull(DaemonError):  # noqa: N818 — a state that passes
    """As many jobs wait as the settings allow; `retry_after_s`: when there will be room, by what is known."""

    def __init__(self, message: str, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Refused(DaemonError):  # noqa: N818 — an answer
    """The request can never be done as it is."""


class NotConfigured(Refused):
    """It could be done, had the daemon other settings or files."""


class UnknownJob(Refused):
    """No job has this id, or its result was kept for its time and is gone."""


class Conflict(Refused):
    """The request's id belongs to another job."""


class NotAllowed(DaemonError):  # noqa: N818 — an answer
    """The caller has not shown that it may."""
