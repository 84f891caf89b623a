"""What this room raises. The message is one line: what was found, what was expected, what to do."""


class InputError(Exception):
    """A file, witness, key or proof that cannot be used."""


class VerificationFailed(Exception):  # noqa: N818 — the answer to a question, not a malfunction
    """A well-formed proof that does not prove what it should."""
