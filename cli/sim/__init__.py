"""`cuzk sim`: what a machine would do, by simulation."""

import click

from cli.sim.profiles import profiles
from cli.sim.run import run


@click.group()
def sim() -> None:
    """Simulate batches under the very policy that real ones run under."""


for command in (run, profiles):
    sim.add_command(command)
