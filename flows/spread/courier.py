"""Proofs on their way from a host to the run of the batch: Prefect keeps them as inputs of that run.

The hosts need no folder in common so; the batch's run deletes what it needs no more. Proofs and public
signals are all that is sent, never an input or a witness.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from httpx import HTTPError
from prefect.client.orchestration import PrefectClient, get_client
from prefect.exceptions import PrefectHTTPStatusError

from engine import ProofCancelled

log = logging.getLogger("cuzk.flows")

SEND_EVERY_S = 1.0
MOST_SENT = 200  # partitions at once, 1 KB each
MOST_READ = 50
PREFIX = "partitions-"


@dataclass
class Parcel:
    """What has become of some partitions, by number: what is in their files, or why there are none."""

    made: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.made) + len(self.failed)

    def as_text(self) -> str:
        return json.dumps({"made": self.made, "failed": self.failed})

    @classmethod
    def from_text(cls, text: str) -> "Parcel":
        found = json.loads(text)
        made = {int(number): (proof, public) for number, (proof, public) in found["made"].items()}
        return cls(made, {int(number): str(why) for number, why in found["failed"].items()})


class Courier:
    """On a host: gathers what is made of its share, and sends it every so often."""

    def __init__(self, batch_run: UUID, share_run: UUID) -> None:
        self._batch_run, self._share_run = batch_run, share_run
        self._parcel = Parcel()

    def ended(self, number: int, files: tuple[Path, Path], error: Exception | None) -> None:
        """A partition is made, and in these files, or has failed for good. A cancelled one is neither."""
        if error is None:
            proof, public = (json.loads(path.read_text()) for path in files)
            self._parcel.made[number] = (proof, public)
        elif not isinstance(error, ProofCancelled):
            self._parcel.failed[number] = str(error)

    @asynccontextmanager
    async def sending(self) -> AsyncIterator[None]:
        """Inside the block, what is gathered is sent; all of it after the block, however that ends."""
        async with get_client() as client:
            sender = asyncio.create_task(self._send_for_ever(client))
            try:
                yield
            finally:
                sender.cancel()
                await asyncio.wait([sender])
                await self._send(client)

    async def _send_for_ever(self, client: PrefectClient) -> None:
        while True:
            await asyncio.sleep(SEND_EVERY_S)
            try:
                await self._send(client)
            except (HTTPError, PrefectHTTPStatusError) as error:  # it is kept, and sent later
                log.warning("proofs could not be sent to the batch's run, and will be: %s", error)

    async def _send(self, client: PrefectClient) -> None:
        while self._parcel:
            some = self._parcel
            made = dict(list(some.made.items())[:MOST_SENT])
            sent = Parcel(made, dict(some.failed))
            key = f"{PREFIX}{self._share_run}-{uuid4().hex}"
            await client.create_flow_run_input(self._batch_run, key, sent.as_text())
            for number in sent.made:
                del some.made[number]
            for number in sent.failed:
                del some.failed[number]


class Inbox:
    """At the batch's run: what has come. A parcel stays on the server until none of it is needed there any
    more, so that a run that takes this one up has it.
    """

    def __init__(self, client: PrefectClient, batch_run: UUID) -> None:
        self._client, self._batch_run = client, batch_run
        self._read: dict[str, set[int]] = {}  # numbers of partitions, by key

    async def received(self, share_run: UUID | None = None) -> AsyncIterator[Parcel]:
        """What has come from a share, or with None from any, each parcel once."""
        prefix = PREFIX if share_run is None else f"{PREFIX}{share_run}-"
        while found := await self._client.filter_flow_run_input(
            self._batch_run, prefix, MOST_READ, {key for key in self._read if key.startswith(prefix)}
        ):
            for each in found:
                parcel = Parcel.from_text(each.value)
                self._read[each.key] = parcel.made.keys() | parcel.failed.keys()
                yield parcel

    async def delete(self, is_needed: Callable[[int], bool]) -> None:
        """Delete the parcels of which no partition is needed; `is_needed` is asked by its number."""
        for key, numbers in list(self._read.items()):
            if not any(map(is_needed, numbers)):
                await self._client.delete_flow_run_input(self._batch_run, key)
                del self._read[key]


async def forward(client: PrefectClient, from_run: UUID, to_run: UUID) -> None:
    """Give what has come for one batch's run to another; nothing is to be done where both are one."""
    if from_run == to_run:
        return
    while found := await client.filter_flow_run_input(from_run, PREFIX, MOST_READ, set()):
        for each in found:
            await client.create_flow_run_input(to_run, each.key, each.value)
            await client.delete_flow_run_input(from_run, each.key)
