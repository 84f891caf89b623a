"""`cuzk sim profiles`: the machines and circuits that come with the program."""

from __future__ import annotations

import click


@click.command(short_help="List the bundled machines and circuits.")
def profiles() -> None:
    """List the machines that `--machine` takes by name, and the circuits that are known by their sizes.

    A machine of your own is a TOML file; the last lines say where these lie, to be copied.
    """
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
    print_parts(machines, *about, circuits, f"the machines' files are in {folder}")
