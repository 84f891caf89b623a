"""A daemon under a mix of circuits for a long time: what it holds must not grow."""

from __future__ import annotations

import asyncio
import time
from collections import Counter

import numpy as np

from benchmarks.daemon.spawned import Look, Spawned, spawned
from daemon.client import Client, connect
from daemon.proto.cuzk_py.v1 import circuits_pb2 as pb

CIRCUITS = ("multiplier", "merkle", "multiplier-bls12381")
LOOK_EVERY_S = 5.0
WARM_UP = 0.25  # of the time, which does not count: results are kept, pools and caches fill


async def soak(minutes: float, clients: int) -> dict[str, object]:
    """Figures; `rss_trend` is how much the fitted line grows over the time that counts, as a share."""
    keep_s = max(1.0, min(60.0, minutes * 60 * WARM_UP / 3))
    ends: Counter[str] = Counter()
    looks: list[tuple[float, Look]] = []
    with spawned(keep_results=f"{keep_s:.0f}s", budget="512MiB") as daemon:
        async with connect(daemon.address) as client:
            for circuit in CIRCUITS:
                await client.prove(circuit)
        until_s = time.monotonic() + minutes * 60
        looking = asyncio.create_task(_look(daemon, looks, ends))
        await asyncio.gather(*(_client(daemon, number, until_s, ends) for number in range(clients)))
        looking.cancel()
    counted = looks[int(len(looks) * WARM_UP) :]
    at_s = np.array([each for each, _ in counted])
    rss_bytes = np.array([look.rss_bytes for _, look in counted], dtype=float)
    slope = float(np.polyfit(at_s - at_s[0], rss_bytes, 1)[0]) if len(counted) > 2 else 0.0
    return {
        "minutes": minutes,
        "clients": clients,
        "ends": dict(ends),
        "rss_mib": [round(float(each) / 2**20, 1) for each in np.quantile(rss_bytes, (0.0, 0.5, 1.0))],
        "rss_trend": round(slope * float(at_s[-1] - at_s[0]) / float(rss_bytes.mean()), 5),
        "threads": [counted[0][1].threads, counted[-1][1].threads],
        "open_files": [counted[0][1].open_files, counted[-1][1].open_files],
    }


async def _client(daemon: Spawned, number: int, until_s: float, ends: Counter[str]) -> None:
    async with connect(daemon.address) as client:
        count = number
        while time.monotonic() < until_s:
            count += 1
            ends[await _one(client, CIRCUITS[count % len(CIRCUITS)], count)] += 1


async def _one(client: Client, circuit: str, count: int) -> str:
    job_id = await client.submit(circuit, priority=("low", "normal", "high")[count % 3])
    if count % 50 == 0:
        await client.cancel(job_id)
    return str(pb.JobState.Name((await client.result(job_id)).state))


async def _look(daemon: Spawned, looks: list[tuple[float, Look]], ends: Counter[str]) -> None:
    while True:
        await asyncio.sleep(LOOK_EVERY_S)
        looks.append((time.monotonic(), daemon.look()))
        if len(looks) % 12 == 0:
            print(f"{len(looks) * LOOK_EVERY_S / 60:.0f} min: {looks[-1][1]}, {dict(ends)}", flush=True)
