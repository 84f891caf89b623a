"""`cuzk bench`: proofs, here or by a daemon, and synthesis, measured."""

from __future__ import annotations

import click

from cli.bench.batch import batch
from cli.bench.partitions import partitions
from cli.bench.pce import pce
from cli.bench.single import single
from cli.bench.status import evict, metrics, preload, status
from cli.bench.stress import stress
from cli.bench.synth import synth


@click.group()
def bench() -> None:
    """Prove batches and measure them; measure synthesis and its parallelism alone."""


COMMANDS = (single, batch, stress, status, preload, evict, metrics, pce, synth, partitions)
for command in COMMANDS:
    bench.add_command(command)
