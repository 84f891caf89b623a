"""Which kernels the environment variable CUZK_LANES asks for."""

import os

CHOICES = ("auto", "off", "emulated")  # "emulated": on any processor, slowly


def lane_choice() -> str:
    """What the environment says, unchecked; "auto" where it is unset or empty."""
    return os.environ.get("CUZK_LANES") or "auto"


def check_lane_choice(choice: str) -> None:
    """Raises ValueError for what is none of `CHOICES`."""
    if choice not in CHOICES:
        raise ValueError(f"CUZK_LANES is {choice!r}, expected auto, off or emulated")
