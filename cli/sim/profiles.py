"""`cuzk sim profiles`: the machines and circuits that come with the program."""

from __future__ import annotations

from pathlib import Path

import click

from cli.options import OUTPUT_FILE
from groth16.output import check_outputs, replacing


@click.command(short_help="List the bundled machines and circuits, or write a machine's file to edit.")
@click.argument("machine", required=False, metavar="[MACHINE]")
@click.option("--output", "-o", type=OUTPUT_FILE, metavar="FILE", help="Write MACHINE's whole profile there.")
def profiles(machine: str | None, output: Path | None) -> None:
    """List the machines that `--machine` takes by name, and the circuits that are known by their sizes.

    A machine of your own is a TOML file: have one that is like it written with -o, and change its name, its
    [[hosts]] and its [prices]. The rest are times, and what they were measured on; they follow the hosts.
    """
    if machine is None and output is None:
        _list()
    elif machine is None or output is None:
        raise click.UsageError("expected both a MACHINE and --output FILE, or neither")
    else:
        _write(machine, output)


def _write(machine: str, output: Path) -> None:
    from sim import load_profile
    from sim.profile import profile_path

    load_profile(machine)  # one that cannot be used is not worth editing
    source = profile_path(machine)
    check_outputs([output], [source])
    content = source.read_bytes()
    with replacing(output) as file:
        file.write(content)
    print(f"profile  {output}; change its name, [[hosts]] and [prices], and ask: cuzk sim run -m {output} …")


def _list() -> None:
    from cli.table import print_parts, table
    from config import format_size
    from sim import bundled_circuits, bundled_profiles, load_profile

    right = ("hosts", "cores", "memory", "GPUs", "GPU memory")
    machines, about = table("machine", *right, right=right), []
    for name in bundled_profiles():
        profile = load_profile(name)
        first = profile.hosts[0] if profile.hosts else None
        count = sum(host.count for host in profile.hosts)
        sizes = ("–",) * 5 if first is None else (
            str(count), str(first.cores), format_size(first.memory), str(first.gpus),
            format_size(first.gpu_memory) if first.gpu_memory else "–",
        )  # fmt: skip
        machines.add_row(name, *sizes)
        about.append(f"{name}: {profile.about}")
    needs = ("constraints", "partitions", "SRS", "PCE", "working set", "of it phase 1")
    circuits = table("circuit", *needs, "priority", right=needs)
    for name, circuit in bundled_circuits().items():
        shape = circuit.shape
        bytes_ = (*[entry.size_bytes for entry in shape.entries], shape.working_bytes, shape.phase1_bytes)
        counts = (f"{circuit.constraints:,}", str(circuit.partitions))
        circuits.add_row(name, *counts, *map(format_size, bytes_), circuit.priority.name.lower())
    folder = next(iter(bundled_profiles().values())).parent
    print_parts(
        machines,
        *about,
        circuits,
        f"the machines' files are in {folder}; to have one to edit: cuzk sim profiles MACHINE -o FILE",
    )
