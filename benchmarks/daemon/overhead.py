"""What a daemon costs: the same proofs through it and in an engine of this process, in turn."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import engine
from benchmarks.daemon.spawned import spawned
from config import Config, load_config
from daemon.client import Client, connect
from daemon.proto.cuzk_py.v1 import circuits_pb2 as pb
from db import open_history
from engine import CircuitSpec, Engine, ProofRequest


async def overhead(
    circuit: str, settings: str, proofs: int, concurrency: int, rounds: int, budget: str
) -> dict[str, object]:
    """Seconds of each, by round, and the ratio of the medians."""
    alone_s, daemon_s = list[float](), list[float]()
    with (
        tempfile.TemporaryDirectory(prefix="cuzk-params-") as params,
        spawned(budget, circuits=settings, params=Path(params)) as daemon,
    ):
        config = load_config(daemon.home / "cuzk.toml")
        async with connect(daemon.address) as client:
            await client.prove(circuit)  # key, kernels and a load
        spec = await asyncio.to_thread(_prepared, circuit, proofs, config)
        for number in range(rounds + 1):
            pair: list[tuple[list[float], Callable[[], Awaitable[float]]]] = [
                (alone_s, lambda: _alone(spec, proofs, concurrency, config)),
                (daemon_s, lambda: _by_daemon(daemon.address, circuit, proofs, concurrency)),
            ]
            for found, work in pair if number % 2 == 0 else reversed(pair):
                found.append(await work())
            print(f"round {number}: alone {alone_s[-1]:.2f} s, daemon {daemon_s[-1]:.2f} s", flush=True)
    alone_s, daemon_s = alone_s[1:], daemon_s[1:]  # the first was to warm both
    return {
        "circuit": circuit,
        "proofs": proofs,
        "concurrency": concurrency,
        "alone_s": [round(each, 3) for each in alone_s],
        "daemon_s": [round(each, 3) for each in daemon_s],
        "time_ratio": round(statistics.median(daemon_s) / statistics.median(alone_s), 4),
        "rate_ratio": round(statistics.median(alone_s) / statistics.median(daemon_s), 4),
    }


def _prepared(circuit: str, proofs: int, config: Config) -> CircuitSpec:
    spec = engine.resolve(circuit, config)
    engine.prepare(spec, print)
    engine.compile_for_proofs(config, spec.zkey, print)
    return engine.with_table(spec, max(proofs, 64), config, engine.policy_limits(config))


async def _alone(spec: CircuitSpec, proofs: int, concurrency: int, config: Config) -> float:
    """In an engine that lasts as long, with a history of its own; its start and end do not count."""
    with tempfile.TemporaryDirectory(prefix="cuzk-alone-") as folder:
        opened = open_history(Path(folder) / "history.db")
        with opened as history, history.writer() as writer:
            async with Engine(config, engine.policy_limits(config), writer, sample_interval_s=1.0) as current:

                async def one(number: int) -> None:
                    proof_id = current.submit(ProofRequest(spec, f"p{number}", Path(folder) / f"p{number}"))
                    await current.result(proof_id)
                    current.forget(proof_id)

                await one(-1)  # what is shared is in memory then
                return await _timed(one, proofs, concurrency)


async def _by_daemon(address: str, circuit: str, proofs: int, concurrency: int) -> float:
    async with connect(address) as client:

        async def one(_number: int) -> None:
            assert (await _one(client, circuit)).state == pb.DONE

        await one(-1)
        return await _timed(one, proofs, concurrency)


async def _one(client: Client, circuit: str) -> pb.JobResult:
    return await client.result(await client.submit(circuit))


async def _timed(one: Callable[[int], Awaitable[None]], proofs: int, concurrency: int) -> float:
    numbers = iter(range(proofs))

    async def some() -> None:
        for number in numbers:
            await one(number)

    started_s = time.monotonic()
    await asyncio.gather(*(some() for _ in range(concurrency)))
    return time.monotonic() - started_s
