"""Which failures of files may pass by themselves."""

import errno

MAY_PASS = frozenset(
    getattr(errno, name)
    for name in (
        "EIO", "EAGAIN", "EBUSY", "EMFILE", "ENFILE", "ENOSPC", "EDQUOT", "EROFS", "ESTALE", "ETIMEDOUT",
        "EREMOTEIO", "ECONNRESET", "ENETDOWN", "ENETUNREACH", "EHOSTDOWN", "EHOSTUNREACH",
    )
    if hasattr(errno, name)
)  # fmt: skip
"""Of disks, of file systems over a network, and of what other processes have taken."""


def io_may_pass(error: BaseException) -> bool:
    """Whether a file could not be read or written for a reason that may pass: not where it is wrong."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in MAY_PASS:
            return True
        cause = cause.__cause__
    return False
