"""What a daemon tells systemd: see sd_notify(3)."""

import os
import socket


def notify(state: str) -> None:
    """Send the state, such as "READY=1", to the socket that systemd names; elsewhere nothing happens."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    if address.startswith("@"):  # of the abstract namespace
        address = "\0" + address[1:]
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as channel:
            channel.sendto(state.encode(), address)
    except OSError:
        return  # systemd has gone, or wants no words: neither ends a daemon


def watchdog_s() -> float | None:
    """How often systemd wants a word, halved; None: never."""
    text = os.environ.get("WATCHDOG_USEC", "")
    return int(text) / 2e6 if text.isdecimal() and int(text) else None
