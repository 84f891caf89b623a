"""What a daemon was asked for, and what came of it."""

import asyncio
import hashlib
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from daemon.inputs import SMALL_BYTES
from db import new_id
from engine.ends import ActiveProof
from engine.proofs import Stage
from policy import Priority

State = Literal["accepted", "running", "done", "failed", "cancelled"]
PartitionFiles = tuple[bytes, bytes]
"""proof.json and public.json."""


@dataclass(frozen=True)
class Ask:
    """A job as a client asks for it. `request_id`: "" where the client gave none. `kind`: of which queue.

    `digest` tells another content under the same request id from the same content again.
    """

    circuit: str
    kind: str = ""
    request_id: str = ""
    name: str = ""
    priority: Priority | None = None
    due: datetime | None = None
    partitions: int | None = None
    until: Stage = "verify"
    lease_s: float = 0.0
    digest: str = ""

    @property
    def title(self) -> str:
        """What people know it by."""
        return self.name or self.circuit


async def with_digest(ask: Ask, data: bytes | None) -> Ask:
    """The same with its digest; that of a large input is made beside the event loop."""
    if data is None or len(data) <= SMALL_BYTES:
        return replace(ask, digest=digest_of(ask, data))
    return replace(ask, digest=await asyncio.to_thread(digest_of, ask, data))


def digest_of(ask: Ask, data: bytes | None) -> str:
    """Of what is to be proved, and nothing of how."""
    said = f"{ask.circuit} {ask.partitions} {ask.until} {'own' if data is None else ''}"
    return hashlib.sha256(said.encode() + b"\0" + (data or b"")).hexdigest()


@dataclass(frozen=True)
class Timings:
    """Seconds: until admission, in stages summed over the partitions, and from acceptance to end."""

    queue_s: float = 0.0
    load_s: float = 0.0
    synthesize_s: float = 0.0
    prove_s: float = 0.0
    verify_s: float = 0.0
    total_s: float = 0.0


@dataclass(frozen=True)
class End:
    """How a job ended: `files` of its partitions' proofs where it is done, `error` where it is not."""

    state: State
    error: str = ""
    files: tuple[PartitionFiles, ...] = ()
    timings: Timings = Timings()
    at: datetime = field(default_factory=lambda: datetime.now(UTC))


@dataclass(eq=False)
class Job:
    """A job of this daemon, from its acceptance until its result is forgotten."""

    ask: Ask
    input_path: Path | None
    id: str = field(default_factory=new_id)
    accepted_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    state: State = "accepted"
    end: End | None = None
    proof_id: str | None = None  # of the engine, once it was given to it
    given_s: float = 0.0  # how old it was then: its key and kernels were made until then
    active: ActiveProof | None = None  # from then on, for as long as somebody may ask for it
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    watchers: int = 0  # clients that wait for it
    cancelled: bool = False  # somebody asked for that
    stored: bool = False  # its end is where it outlives this process
    delivered: bool = False  # a client has had its end

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self.end is None

    @property
    def age_s(self) -> float:
        """Since its acceptance."""
        return (datetime.now(UTC) - self.accepted_at).total_seconds()
