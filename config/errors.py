"""The error of this room."""


class ConfigError(ValueError):
    """A setting that cannot be used; the message is one line that names the file and the key.

    It is a ValueError so that pydantic collects it from a validator like any other.
    """
