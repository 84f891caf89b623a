"""`cuzk sim`: what a batch would do on a modelled machine."""

from __future__ import annotations

import click


@click.group()
def sim() -> None:
    """Simulate batches under the policy that real ones run under."""
