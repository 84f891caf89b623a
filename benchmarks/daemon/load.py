"""Many clients at once, some of whom cancel or send nonsense, and a daemon that is killed in the midst."""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import examples
from benchmarks.daemon.spawned import Look, Spawned, spawned
from daemon.client import Client, connect
from daemon.errors import QueueFull, Refused
from daemon.proto.cuzk_py.v1 import circuits_pb2 as pb
from groth16.proof import read_proof, read_public
from groth16.verification_key import VerificationKey, read_verification_key_of
from groth16.verifier import verify

INPUT = examples.CIRCUITS["multiplier"].inputs.read_bytes()
LOOK_EVERY_S = 1.0


@dataclass
class Seen:
    """What came of every submit, and how the daemon was meanwhile."""

    proofs: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)  # by request id
    ends: Counter[str] = field(default_factory=Counter)
    twice: int = 0
    looks: list[tuple[int, Look]] = field(default_factory=list)  # how many had ended, and the look


async def load(clients: int, submits: int, kill: bool, say_every: int = 1000) -> dict[str, object]:
    """Returns figures; `wrong` counts what must not be."""
    seen, random_ = Seen(), random.Random(1)
    with spawned(queue_limit=max(100, clients), keep_results="1m") as daemon:
        async with connect(daemon.address) as client:
            await client.prove("multiplier")  # key and kernels
        started_s = time.monotonic()
        killing = asyncio.create_task(_kill_in_the_midst(daemon, seen, submits)) if kill else None
        looking = asyncio.create_task(_look(daemon, seen, killing))
        work = iter(range(submits))
        async with AsyncExitStack() as stack:
            connected = [
                await stack.enter_async_context(connect(daemon.address, silence_s=60.0))
                for _ in range(clients)
            ]
            for each in connected:
                each.reconnect_for_s = 300.0
            kinds = [random_.choices(("prove", "cancel", "bad"), (98, 1, 1))[0] for _ in range(submits)]
            await asyncio.gather(*(_one_client(each, work, kinds, seen, say_every) for each in connected))
        seconds = time.monotonic() - started_s
        looking.cancel()
        if killing:
            await killing
        wrong = await asyncio.to_thread(_wrong, daemon, seen)
        left = [path.name for path in (daemon.home / "daemon").iterdir() if path.suffix in (".json", ".out")]
    after = [look for _, look in seen.looks[len(seen.looks) // 2 :]] or [look for _, look in seen.looks]
    return {
        "clients": clients,
        "submits": submits,
        "killed": kill,
        "seconds": round(seconds, 1),
        "a_second": round(submits / seconds, 1),
        "ends": dict(seen.ends),
        "invalid_proofs": wrong,
        "delivered_differently": seen.twice,
        "files_left": len(left),
        "rss_mib": [round(after[at].rss_bytes / 2**20, 1) for at in (0, len(after) // 2, -1)],
        "threads": [after[0].threads, after[-1].threads],
        "open_files": [after[0].open_files, max(look.open_files for look in after), after[-1].open_files],
    }


async def _one_client(client: Client, work: object, kinds: list[str], seen: Seen, say_every: int) -> None:
    for number in work:  # type: ignore[attr-defined]  # an iterator that all share
        await _one(client, f"r{number}", kinds[number], seen)
        if sum(seen.ends.values()) % say_every == 0:
            print(f"{sum(seen.ends.values())} of {len(kinds)}: {dict(seen.ends)}", flush=True)


async def _one(client: Client, request_id: str, kind: str, seen: Seen) -> None:
    if kind == "bad":
        data = random.choice((b"\x00" * 100, b"{]", b'{"a": "no number", "b": "2"}'))
        await _bad(client, request_id, data, seen)
        return
    job_id = await _submitted(client, request_id, INPUT)
    if kind == "cancel":
        await client.cancel(job_id)
    result = await client.result(job_id)
    seen.ends[pb.JobState.Name(result.state)] += 1
    if result.state == pb.DONE:
        part = result.partitions[0]
        again = await client.result(job_id)
        seen.twice += again.partitions[0].proof_json != part.proof_json
        seen.proofs[request_id] = part.proof_json, part.public_json


async def _bad(client: Client, request_id: str, data: bytes, seen: Seen) -> None:
    try:
        result = await client.result(await _submitted(client, request_id, data))
        seen.ends[f"bad {pb.JobState.Name(result.state)}"] += 1
    except Refused:
        seen.ends["bad refused"] += 1


async def _submitted(client: Client, request_id: str, data: bytes) -> str:
    while True:
        try:
            return await client.submit("multiplier", inputs=data, request_id=request_id)
        except QueueFull as full:
            await asyncio.sleep(full.retry_after_s)
        except Exception as error:
            if "no daemon answers" not in str(error) and "went away" not in str(error):
                raise
            await asyncio.sleep(0.2)  # it is being started again


async def _kill_in_the_midst(daemon: Spawned, seen: Seen, submits: int) -> None:
    while sum(seen.ends.values()) < submits // 2:  # noqa: ASYNC110 ends are counted in many places
        await asyncio.sleep(0.01)
    await asyncio.to_thread(daemon.kill)
    print("killed, and started again", flush=True)
    await asyncio.to_thread(daemon.start)
    seen.looks.clear()  # of another process


async def _look(daemon: Spawned, seen: Seen, killing: asyncio.Task[None] | None) -> None:
    while True:
        await asyncio.sleep(LOOK_EVERY_S)
        if killing is None or killing.done():
            seen.looks.append((sum(seen.ends.values()), daemon.look()))


def _wrong(daemon: Spawned, seen: Seen) -> int:
    """How many of the proofs do not verify."""
    (zkey,) = (daemon.home / "params").glob("multiplier-????????????????-development.zkey")
    key = read_verification_key_of(zkey)
    with tempfile.TemporaryDirectory() as folder:
        return sum(not _is_valid(key, Path(folder), *proof) for proof in seen.proofs.values())


def _is_valid(key: VerificationKey, folder: Path, proof: bytes, public: bytes) -> bool:
    paths = folder / "proof.json", folder / "public.json"
    for path, content in zip(paths, (proof, public), strict=True):
        path.write_bytes(content)
    try:
        verify(key, read_public(paths[1], key.curve), read_proof(paths[0]))
    except Exception:
        return False
    return True
