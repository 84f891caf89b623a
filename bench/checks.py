"""Before the start: who the daemon is, and whether it can do what is asked; each a line for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.asked import Asked
from bench.errors import BenchError
from bench.run_folder import versions
from config import format_size
from daemon.client import Client
from daemon.kinds import refuse_vanilla
from daemon.proto.cuzk_py.v1 import circuits_pb2 as pb


@dataclass(frozen=True)
class Checked:
    """The lines, and the daemon's budget; None where a daemon of another program does not tell."""

    lines: tuple[str, ...]
    budget_bytes: int | None


async def check(client: Client, asks: Sequence[Asked], at_once: int) -> Checked:
    """Raises BenchError or DaemonError, one line with what to do, for what the daemon cannot do."""
    version = client.version
    if version is None:
        return await _check_public(client, asks)
    lines = [
        f"daemon   {client.address}: cuzk {version.version}, process {version.pid} on {version.host}, "
        f"run {version.run_id}"
    ]
    own = versions().get("cuzk", version.version)
    if version.version != own:
        lines.append(
            f"version  the daemon's is {version.version}, this one's {own}; they speak the same protocol"
        )
    status = await client.status()
    if status.draining:
        raise BenchError(f"the daemon at {client.address} is ending; wait for the next one")
    infos = [
        await _info(client, name)
        for name in dict.fromkeys(each.circuit for each in asks if each.public is None)
    ]
    lines += [f"circuit  {_circuit(info)}" for info in infos]
    for each in asks:
        if each.public is not None:
            refuse_vanilla(each.public.vanilla_proof)
    for kind in dict.fromkeys(each.kind for each in asks if each.kind is not None):
        lines.append(f"circuit  that which the daemon's settings have for {kind}")
    _check_inputs(asks, {info.name: info for info in infos})
    lines += [f"input    {text}" for text in _inputs(asks)]
    free_bytes = status.budget_bytes - min(status.reserved_bytes, status.budget_bytes)
    fits = "; ".join(_fits(info, status.budget_bytes) for info in infos if info.entries_bytes)
    lines.append(
        f"budget   {format_size(status.budget_bytes)}, {format_size(free_bytes)} of it free"
        + (f"; {fits}" if fits else "")
    )
    room = version.queue_limit - status.waiting - status.running
    if at_once > version.queue_limit:
        raise BenchError(
            f"{at_once} proofs at a time, but the daemon takes {version.queue_limit} jobs; "
            "ask for fewer with --concurrency, or set its daemon.queue_limit"
        )
    if status.waiting or status.running or room < at_once:
        lines.append(
            f"queue    {status.running} run, {status.waiting} wait, there is room for {max(0, room)}"
        )
    return Checked(tuple(lines), int(status.budget_bytes))


async def _check_public(client: Client, asks: Sequence[Asked]) -> Checked:
    for each in asks:
        if each.public is None:
            raise BenchError(
                f"{each.circuit!r} is a circuit by name, which the daemon at {client.address} does not take: "
                "it speaks the public protocol alone; ask for porep, snap, wpost or winning"
            )
    status = await client.public_status()
    limit_bytes = int(status.pinned_memory_limit_bytes)
    lines = (
        f"daemon   {client.address}: of another program, up {status.uptime_seconds} s",
        *(f"input    {text}" for text in _inputs(asks)),
        f"budget   {format_size(limit_bytes)}",
    )
    return Checked(lines, limit_bytes or None)


async def _info(client: Client, name: str) -> pb.CircuitInfo:
    (info,) = await client.circuits(name)
    if not info.usable:
        raise BenchError(f"circuit {name!r} cannot be proved by the daemon: {info.reason}")
    return info


def _circuit(info: pb.CircuitInfo) -> str:
    if not info.entries_bytes:
        return f"{info.name}: {info.reason}"
    ready = "ready" if info.prepared else "not ready yet: the first proof waits for its kernels"
    return (
        f"{info.name}: {info.curve}, domain {info.domain_size}, keys and matrices "
        f"{format_size(info.entries_bytes)}, {format_size(info.working_bytes)} a partition; {ready}"
    )


def _fits(info: pb.CircuitInfo, budget_bytes: int) -> str:
    count = (budget_bytes - info.entries_bytes) // max(1, info.working_bytes)
    return (
        f"{count} partitions of {info.name} fit at once"
        if count != 1
        else f"one partition of {info.name} fits"
    )


def _inputs(asks: Sequence[Asked]) -> list[str]:
    texts = list(dict.fromkeys(each.input_text for each in asks))
    return texts if len(texts) <= 3 else [*texts[:2], f"… and {len(texts) - 2} more"]


def _check_inputs(asks: Sequence[Asked], infos: dict[str, pb.CircuitInfo]) -> None:
    for each in asks:
        if "inputs" in each.options and not infos[each.circuit].takes_inputs:
            raise BenchError(
                f"{each.input_text}: circuit {each.circuit!r} has no calculator, so it takes no inputs; "
                "give a witness (.wtns)"
            )
