"""`cuzk sim`: what a machine would do, by simulation."""

import click

from cli.sim.compare import compare
from cli.sim.plan import plan
from cli.sim.profiles import profiles
from cli.sim.run import run
from cli.sim.sweep import sweep


@click.group()
def sim() -> None:
    """Simulate batches and schedules under the very policy that real ones run under."""


for command in (run, sweep, compare, plan, profiles):
    sim.add_command(command)
