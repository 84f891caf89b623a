"""Stdout and stderr of the process where they are missing, full, or read by nobody any more."""

from __future__ import annotations

import os
import sys

STREAMS = {1: "stdout", 2: "stderr"}


def replace_missing() -> None:
    """Lead a stream that was closed before the process began to nowhere.

    Its descriptor too, or the next file to be opened would get it, and with it what others write there.
    """
    for descriptor, name in STREAMS.items():
        if getattr(sys, name) is None:
            lead_nowhere(descriptor)
            setattr(sys, name, os.fdopen(descriptor, "w", encoding="utf-8", closefd=False))


def lead_nowhere(descriptor: int) -> None:
    """Drop what is written to this descriptor from now on."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    if nowhere != descriptor:
        os.dup2(nowhere, descriptor)
        os.close(nowhere)
    os.set_inheritable(descriptor, True)
