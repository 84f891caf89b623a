"""What proves, as one word of a form or an option."""

from config import ConfigError

WORDS = ("auto", "all", "none")


def parse_devices(text: str) -> list[int] | str:
    """The value of `gpus.devices` meant by "0,1", "auto", "all" or "none". Raises ConfigError."""
    found = text.strip()
    if found in WORDS:
        return found
    numbers = [each.strip() for each in found.split(",")]
    if not all(each.isdecimal() for each in numbers) or len(set(numbers)) != len(numbers):
        raise ConfigError(
            f'found {text!r}, expected different GPUs such as "0" or "0,1", or "auto", "all" or "none"'
        )
    return [int(each) for each in numbers]
