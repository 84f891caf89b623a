"""Messages that nobody meant: random bytes, valid ones with bytes changed, and huge or empty fields."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from pathlib import Path
from typing import Any

import grpc

from benchmarks.daemon.spawned import Spawned, spawned
from daemon.address import parse_address
from daemon.client import connect
from daemon.proto.cuzk.v1 import proving_pb2 as public
from daemon.proto.cuzk_py.v1 import circuits_pb2 as own

SECRET = b"a-witness-that-must-not-be-logged"
ANSWER_S = 30.0
AT_ONCE = 20
LEFT_OUT = {"Drain"}  # it is asked to end by that, and does


async def fuzz(messages: int, seed: int) -> dict[str, object]:
    """Figures; `crashed`, `unanswered` and `logged` must be 0."""
    with spawned() as daemon:
        async with connect(daemon.address) as client:
            await client.prove("multiplier")
        before = daemon.look()
        codes = await _send(daemon, messages, random.Random(seed))
        crashed = not daemon.is_alive()
        proved = 0
        if not crashed:
            async with connect(daemon.address) as client:
                proved = (await client.prove("multiplier")).state
                after = daemon.look()
        daemon.stop()
        logged = [path.name for path in _written(daemon) if SECRET in path.read_bytes()]
    return {
        "messages": messages,
        "seed": seed,
        "codes": dict(codes),
        "crashed": int(crashed),
        "unanswered": codes["DEADLINE_EXCEEDED"] + codes["UNAVAILABLE"],
        "mistakes": codes["INTERNAL"] + codes["UNKNOWN"],
        "logged": logged,
        "proves_after": proved == own.DONE,
        "open_files": [before.open_files, after.open_files] if not crashed else [],
        "rss_mib": [round(look.rss_bytes / 2**20, 1) for look in (before, after)] if not crashed else [],
    }


def _written(daemon: Spawned) -> list[Path]:
    """Logs, streams, and the history, in which no input may be either."""
    return [
        path for path in daemon.home.rglob("*") if path.is_file() and path.suffix in (".log", ".out", ".db")
    ]


async def _send(daemon: Spawned, messages: int, random_: random.Random) -> Counter[str]:
    codes: Counter[str] = Counter()
    methods = _methods()
    async with grpc.aio.insecure_channel(parse_address(daemon.address).target) as channel:
        room = asyncio.Semaphore(AT_ONCE)

        async def one() -> None:
            path, kind, streams = random_.choice(methods)
            data = _message(kind, random_)
            async with room:
                codes[await _answer(channel, path, data, streams)] += 1
            if sum(codes.values()) % 1000 == 0:
                print(f"{sum(codes.values())} of {messages}: {dict(codes)}", flush=True)

        async with asyncio.TaskGroup() as group:
            for _ in range(messages):
                group.create_task(one())
    return codes


async def _answer(channel: Any, path: str, data: bytes, streams: bool) -> str:
    kind = channel.unary_stream if streams else channel.unary_unary
    call = kind(path)(data, timeout=ANSWER_S)
    try:
        if streams:
            await call.read()
            call.cancel()
        else:
            await call
    except grpc.aio.AioRpcError as error:
        return str(error.code().name)
    return "OK"


def _methods() -> list[tuple[str, Any, bool]]:
    found = []
    for module, name in ((public, "ProvingEngine"), (own, "Circuits")):
        service = module.DESCRIPTOR.services_by_name[name]
        for method in service.methods:
            if method.name not in LEFT_OUT:
                kind = getattr(module, method.input_type.name)
                found.append((f"/{service.full_name}/{method.name}", kind, method.server_streaming))
    return found


def _message(kind: Any, random_: random.Random) -> bytes:
    """Bytes of one sort or another."""
    if random_.random() < 0.2:
        return random_.randbytes(random_.randrange(300))
    data = bytearray(_filled(kind, random_).SerializeToString())
    if random_.random() < 0.4:
        for _ in range(random_.randrange(1, 8)):
            if data:
                data[random_.randrange(len(data))] = random_.randrange(256)
    return bytes(data)


def _filled(kind: Any, random_: random.Random, depth: int = 0) -> Any:
    message = kind()
    for field in kind.DESCRIPTOR.fields:
        if random_.random() < 0.3:
            continue
        if field.message_type:
            if depth < 3 and not field.is_repeated:
                nested = getattr(message, field.name)
                nested.CopyFrom(_filled(type(nested), random_, depth + 1))
            continue
        if field.is_repeated:
            continue
        setattr(message, field.name, _value(field, random_))
    return message


def _value(field: Any, random_: random.Random) -> Any:
    if field.cpp_type == field.CPPTYPE_STRING:
        if field.type == field.TYPE_BYTES:
            return random_.choice(_BYTES)(random_)
        return random_.choice(_TEXTS)(random_)
    if field.cpp_type in (field.CPPTYPE_DOUBLE, field.CPPTYPE_FLOAT):
        return random_.choice((0.0, -1.0, float("nan"), float("inf"), 1e300))
    if field.cpp_type == field.CPPTYPE_BOOL:
        return True
    if field.cpp_type == field.CPPTYPE_ENUM:
        return random_.choice((0, 1, 4, 99))
    bits = 64 if field.cpp_type in (field.CPPTYPE_INT64, field.CPPTYPE_UINT64) else 32
    if "timeout" in field.name or "interval" in field.name:
        return random_.choice((1, 20, 300))  # else it is answered in time, but not in ours
    if field.name == "partitions":
        return random_.choice((0, 1, 2, 2**32 - 1))  # more take their time, and others wait for them
    signed = field.cpp_type in (field.CPPTYPE_INT64, field.CPPTYPE_INT32)
    most = 2 ** (bits - signed) - 1
    return random_.choice((0, 1, 2, 2048, most, random_.randrange(most)))


_TEXTS = (
    lambda _: "multiplier",
    lambda _: "",
    lambda r: f"r{r.randrange(50)}",
    lambda r: "".join(chr(r.choice((0, 10, 65, 0x202E, 0x1F600))) for _ in range(r.randrange(50))),
    lambda _: "../../etc/passwd",
    lambda _: "x" * 100_000,
    lambda _: "%s%n{}${HOME}",
)
_BYTES = (
    lambda _: b"",
    lambda r: SECRET + r.randbytes(50),
    lambda _: b'{"a": "' + SECRET + b'", "b": "3"}',
    lambda _: b'{"' + SECRET + b'": "1"}',
    lambda _: b"wtns" + SECRET * 10,
    lambda r: b"wtns\x02\x00\x00\x00\x02\x00\x00\x00" + r.randbytes(200),
    lambda _: b"[" * 100_000,
    lambda r: b'{"a": ' + b"9" * r.randrange(1, 10_000) + b', "b": "1"}',
    lambda _: b'{"a": "3", "b": "11"}',
)
