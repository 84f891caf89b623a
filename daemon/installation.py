"""Faults of the program's own installation: it is not whole, as while it is installed anew."""

AGAIN_S = (5.0, 15.0, 30.0, 60.0)
"""Between trials; from the last on it stays so."""


def what_is_missing(error: BaseException) -> str:
    """The words of the import that failed below the error, whichever way it came up; "" where none did."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        if isinstance(cause, ImportError):
            return " ".join(str(cause).split())
        seen.add(id(cause))
        cause = cause.__cause__
    return ""


def told(missing: str) -> str:
    """For people."""
    return f"this program's installation is not whole ({missing}); install it anew, and restart the daemon"
