"""What the policy raises. Refusals of work are decisions (`Reject`, `Fail`), never exceptions."""


class PolicyError(Exception):
    """Base of the errors of this room; the message is one line."""


class ProtocolError(PolicyError):
    """The driver sent an event that cannot happen in the present state; nothing was changed by it."""


class CodecError(PolicyError):
    """A stored message is not one that this version writes."""
