"""`cuzk bench`: proofs, here or by a daemon, and synthesis, measured."""

from __future__ import annotations

import click

from cli.bench.batch import batch
from cli.bench.partitions import partitions
from cli.bench.pce import pce
from cli.bench.synth import synth


@click.group()
def bench() -> None:
    """Prove batches and measure them; measure synthesis and its parallelism alone."""


for command in (batch, synth, pce, partitions):
    bench.add_command(command)
