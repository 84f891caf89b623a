"""`cuzk sim profiles`: the machines, circuits and workloads that come with the program."""

from __future__ import annotations

from pathlib import Path

import click

from cli.options import OUTPUT_FILE, conclude
from groth16.output import check_outputs, replacing


@click.command(short_help="List the bundled machines, circuits and workloads, or write one to edit.")
@click.argument("name", required=False, metavar="[NAME]")
@click.option("--output", "-o", type=OUTPUT_FILE, metavar="FILE", help="Write the whole file of NAME there.")
def profiles(name: str | None, output: Path | None) -> None:
    """List the machines that `--machine` takes by name, the circuits that are known by their sizes, and the
    workloads that `--workload` takes by name.

    A machine of your own is a TOML file: have one that is like it written with -o, and change its name, its
    [[hosts]] and its [prices]. The rest are times, and what they were measured on; they follow the hosts. A
    workload's is written so, too.
    """
    if name is None and output is None:
        _list()
    elif name is None or output is None:
        raise click.UsageError("expected both a NAME and --output FILE, or neither")
    else:
        _write(name, output)


def _write(name: str, output: Path) -> None:
    from sim import load_profile
    from sim.profile import profile_path
    from sim.workload_file import bundled_workloads

    source = bundled_workloads().get(name)
    if source is None:
        load_profile(name)  # one that cannot be used is not worth editing
        source = profile_path(name)
        result = (
            f"profile  {output}; change its name, [[hosts]] and [prices], and ask: cuzk sim run -m {output} …"
        )
    else:
        result = f"workload  {output}; change it, and ask: cuzk sim run -w {output} …"
    check_outputs([output], [source])
    content = source.read_bytes()
    with replacing(output) as file:
        file.write(content)
    conclude(result, output)


def _list() -> None:
    from cli.table import print_parts, table
    from config import format_size
    from sim import bundled_circuits, bundled_profiles, load_profile
    from sim.workload_file import bundled_workloads

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
    print_parts(
        machines,
        *about,
        circuits,
        f"workloads: {', '.join(bundled_workloads())}",
        "to have a machine or a workload to edit: cuzk sim profiles NAME -o FILE",
    )
