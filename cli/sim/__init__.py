"""`cuzk sim`: what a machine would do, by simulation."""

import click

from cli.sim.calibrate import calibrate
from cli.sim.compare import compare
from cli.sim.plan import plan
from cli.sim.profiles import profiles
from cli.sim.replay import replay
from cli.sim.run import run
from cli.sim.sweep import sweep
from cli.sim.validate import validate


@click.group()
def sim() -> None:
    """Simulate batches and schedules under the very policy that real ones run under."""


for command in (run, sweep, compare, plan, calibrate, validate, replay, profiles):
    sim.add_command(command)
