"""What can go wrong with a proof that the engine was asked for; the message is one line for the user."""


class EngineError(Exception):
    """Base of the engine's errors."""


class Rejected(EngineError):  # noqa: N818 — an answer of the engine, not a malfunction
    """The request can never run within these limits; the message has the numbers and what would fit."""


class ProofFailed(EngineError):  # noqa: N818 — says it all
    """The proof has failed and everything it held was released; `__cause__` is the stage's own error."""


class ProofCancelled(EngineError):  # noqa: N818 — somebody asked for it
    """The proof was cancelled, by a caller or because the engine was shut down."""


class StageTimeout(EngineError):  # noqa: N818 — says it all
    """A stage took longer than the settings allow."""
