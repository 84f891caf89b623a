"""`cuzk bench status`, `metrics`, `preload` and `evict`: a daemon's state, and its keys."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import click

from cli.bench.daemon_options import Where, address_options
from cli.bench.driven import run_async
from cli.options import json_option

if TYPE_CHECKING:
    from daemon.client import Client
    from daemon.proto.cuzk.v1.proving_pb2 import GetStatusResponse
    from daemon.proto.cuzk_py.v1.circuits_pb2 import DaemonStatus

circuit_option = click.option(
    "--circuit-id", "-c", metavar="NAME", required=True, help='A circuit, or its public name, as "porep-32g".'
)


@click.command(short_help="Show a daemon's state.")
@json_option
@address_options
def status(where: Where, as_json: bool) -> None:
    """Show what the daemon holds, proves and has proved."""

    async def ask() -> str:
        from google.protobuf.json_format import MessageToDict

        async with where.connected() as client:
            public = await client.public_status()
            own = await client.status() if client.version is not None else None
        if as_json:
            parts = {"public": public} | ({} if own is None else {"own": own})
            found = {
                name: MessageToDict(
                    part, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
                )
                for name, part in parts.items()
            }
            return json.dumps(found, indent=1)
        return "\n".join(_lines(client, public, own))

    print(run_async(ask()))


def _lines(client: Client, public: GetStatusResponse, own: DaemonStatus | None) -> list[str]:
    from config import format_size

    version = client.version
    who = (
        "of another program"
        if version is None
        else f"cuzk {version.version}, process {version.pid}, run {version.run_id}"
    )
    lines = [
        f"daemon   {client.address}: {who}, up {public.uptime_seconds} s",
        f"proofs   {public.total_proofs_completed} made, {public.total_proofs_failed} failed",
    ]
    if own is None:
        used, limit = public.pinned_memory_bytes, public.pinned_memory_limit_bytes
        lines.append(f"memory   {format_size(used)} of {format_size(limit)}")
    else:
        lines.append(
            f"memory   {format_size(own.reserved_bytes)} of {format_size(own.budget_bytes)} reserved; "
            f"RSS {format_size(own.rss_bytes)}, at most {format_size(own.peak_rss_bytes)}"
        )
        lines.append(f"threads  {own.threads}, {own.open_files} open files")
        lines += [
            f"job      {job.job_id} {job.name or job.circuit}, {job.age_s:.0f} s: {job.doing}"
            for job in own.jobs
        ]
    for gpu in public.gpus:
        free, total = format_size(gpu.vram_free_bytes), format_size(gpu.vram_total_bytes)
        doing = f"proves {gpu.current_proof_kind} {gpu.current_job_id}" if gpu.current_job_id else "idle"
        lines.append(f"GPU      {gpu.ordinal} {gpu.name}, {free} of {total} free, {doing}")
    for srs in public.loaded_srs:
        tier = {0: "in memory", 1: "mapped", 2: "on disk"}.get(srs.tier, str(srs.tier))
        lines.append(
            f"key      {srs.circuit_id} {tier}, {format_size(srs.size_bytes)}, {srs.ref_count} use it"
        )
    lines += [
        f"queue    {each.proof_kind}: {each.pending} wait, {each.in_progress} run" for each in public.queues
    ]
    return lines


@click.command(short_help="Print a daemon's metrics, as Prometheus reads them.")
@address_options
def metrics(where: Where) -> None:
    """Print what Prometheus would scrape."""

    async def ask() -> str:
        async with where.connected() as client:
            return await client.metrics()

    print(run_async(ask()), end="")


@click.command(short_help="Have a daemon load a circuit's key.")
@circuit_option
@address_options
def preload(where: Where, circuit_id: str) -> None:
    """Bring a circuit's key into memory before proofs need it, and wait for that."""

    async def ask() -> str:
        async with where.connected() as client:
            begun_s = time.monotonic()
            answer = await client.preload(circuit_id)
        if answer.already_loaded:
            return f"{circuit_id} was in memory already"
        all_s = time.monotonic() - begun_s
        return f"{circuit_id} loaded in {answer.load_time_ms / 1000:.3f} s, {all_s:.3f} s in all"

    print(run_async(ask()))


@click.command(short_help="Have a daemon let go of a circuit's key.")
@circuit_option
@address_options
def evict(where: Where, circuit_id: str) -> None:
    """Free the memory of a circuit's key, unless proofs use it."""

    async def ask() -> str:
        from config import format_size

        async with where.connected() as client:
            answer = await client.evict(circuit_id)
        return (
            f"{circuit_id} was not in memory"
            if not answer.was_loaded
            else f"{circuit_id}: freed {format_size(answer.freed_bytes)}"
        )

    print(run_async(ask()))
