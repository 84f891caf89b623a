"""A batch's partitions dealt out to hosts, and taken back: who is lost leaves what is left to the others."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from httpx import HTTPError
from prefect import State
from prefect.artifacts import acreate_table_artifact
from prefect.client.orchestration import PrefectClient
from prefect.exceptions import PrefectHTTPStatusError

from engine import EngineError, ProofFailed
from flows.display.artifacts import ProgressBar
from flows.display.late import late_s
from flows.display.progress import WORD_EVERY_S, tell
from flows.parameters.requests import Requests
from flows.spread.courier import Inbox, Parcel
from flows.spread.hosts import Share, ask, end_of
from flows.spread.share import ShareParameters
from flows.summary import ProofSummary

if TYPE_CHECKING:
    from engine.assembly import Assembly  # it loads the compiler

log = logging.getLogger("cuzk.flows")

LOOK_EVERY_S = 1.0


@dataclass(frozen=True)
class Wanted:
    """The batch as a whole: where its proofs come together, and which of them are there already."""

    asked: ShareParameters  # of each host; its name and its partitions are filled in
    hosts: list[str]
    requests: Requests
    assembly: Assembly
    inbox: Inbox
    count: int
    partitions: int
    found: set[int]
    there: set[int]  # partitions of other proofs that the assembly has
    stop: bool  # at the first failure


@dataclass
class Spread:
    """ended: is told of each proof by its index."""

    client: PrefectClient
    wanted: Wanted
    ended: Callable[[int, ProofSummary], None]
    _proofs: dict[int, ProofSummary] = field(default_factory=dict)
    _made: Counter[str] = field(default_factory=Counter)  # partitions by host
    _lost: dict[str, str] = field(default_factory=dict)  # why, by host
    _shares: list[Share] = field(default_factory=list)
    _bar: ProgressBar = field(default_factory=ProgressBar)
    _started_s: float = field(default_factory=time.monotonic)
    _told_s: float = field(default_factory=time.monotonic)

    @property
    def proofs(self) -> list[ProofSummary]:
        """What came of those that have ended, in order."""
        return [self._proofs[index] for index in sorted(self._proofs)]

    async def prove(self) -> None:
        """Until every proof has ended, or one has failed where that stops the others."""
        wanted = self.wanted
        numbers = [
            number
            for number in range(wanted.count * wanted.partitions)
            if number // wanted.partitions not in wanted.found and number not in wanted.there
        ]
        await self._deal(numbers, wanted.hosts)
        await self._tidy()
        try:
            while self._shares and not (wanted.stop and self._has_failed):
                await asyncio.sleep(LOOK_EVERY_S)
                for share in list(self._shares):
                    await self._look_at(share)
                await self._tidy()
                await self._show_progress()
        finally:
            await acreate_table_artifact(self._rows(), "hosts", "What each host has proved")

    @property
    def _has_failed(self) -> bool:
        return any(proof.error is not None for proof in self._proofs.values())

    async def _deal(self, numbers: list[int], hosts: list[str]) -> None:
        """Each proof's partitions in turn, so that all hosts have a part of each."""
        for place, host in enumerate(hosts):
            if some := numbers[place :: len(hosts)]:
                asked = self.wanted.asked.model_copy(update={"host": host})
                self._shares.append(await ask(asked, some))
                tell(f"{host} is to prove {len(some)} partitions")

    async def _look_at(self, share: Share) -> None:
        try:
            state = await end_of(self.client, share)  # first: all that it has sent is there if it has ended
            async for parcel in self.wanted.inbox.received(share.run_id):
                await self._take(share, parcel)
        except (HTTPError, PrefectHTTPStatusError) as error:  # a server that is started again, for one
            log.warning("%s is asked again later: %s", share.host, error)
            return
        if state is not None:
            self._shares.remove(share)
            if share.left:
                await self._lose(share, state)

    async def _tidy(self) -> None:
        """Of proofs that have ended nothing needs to stay on the server."""
        try:
            await self.wanted.inbox.delete(self._needs)
        except (HTTPError, PrefectHTTPStatusError) as error:
            log.warning("what was read is deleted later: %s", error)

    def _needs(self, number: int) -> bool:
        index = number // self.wanted.partitions
        return index not in self._proofs and index not in self.wanted.found

    async def _take(self, share: Share, parcel: Parcel) -> None:
        made = {number: files for number, files in parcel.made.items() if number in share.left}
        taken = await asyncio.to_thread(self.wanted.assembly.take, made)
        self._made[share.host] += len(made) - len(taken.refused)
        for number, words in parcel.failed.items():
            self._fail(number, ProofFailed(words))
        for number, error in taken.refused.items():
            self._fail(number, ProofFailed(f"{share.host} sent what is no proof: {error}"))
        share.left -= made.keys() | parcel.failed.keys()
        for index in taken.whole:
            self._end(index, None)

    async def _lose(self, share: Share, state: State) -> None:
        """Deal what is left of its share to the others; its proofs fail where there are none."""
        self._lost[share.host] = why = f"{share.host}: {state.message or state.name}"
        others = [host for host in self.wanted.hosts if host not in self._lost]
        tell(f"lost {why}; {len(share.left)} partitions are left for {', '.join(others) or 'nobody'}")
        await self._deal(sorted(share.left), others)
        if not others:
            causes = "; ".join(self._lost.values())
            for number in sorted(share.left):
                self._fail(number, ProofFailed(f"no host is left to prove it; {causes}"))

    def _fail(self, number: int, error: EngineError) -> None:
        index = number // self.wanted.partitions
        if index not in self._proofs:
            name = self.wanted.requests.name(index)
            tell(f"failed: {name}: {error}")
            self._end(index, type(error)(f"{name}: {str(error).removeprefix(f'{name}: ')}"))

    def _end(self, index: int, error: EngineError | None) -> None:
        name, seconds = self.wanted.requests.name(index), time.monotonic() - self._started_s
        self._proofs[index] = proof = ProofSummary(name, seconds, error, late_s(self.wanted.requests.due))
        self.ended(index, proof)

    def word(self) -> str:
        """How far it is."""
        by_host = ", ".join(f"{host} {self._made[host]}" for host in self.wanted.hosts)
        return f"{self._ended} of {self.wanted.count} proofs have ended; partitions: {by_host}"

    @property
    def _ended(self) -> int:
        return len(self._proofs) + len(self.wanted.found)

    async def _show_progress(self) -> None:
        word = self.word()
        await self._bar.show(self._ended, self.wanted.count, word)
        if (now_s := time.monotonic()) - self._told_s >= WORD_EVERY_S:
            self._told_s = now_s
            tell(f"{now_s - self._started_s:.0f} s: {word}")

    def _rows(self) -> list[dict[str, str]]:
        return [
            {"host": host, "partitions proved": str(self._made[host]), "state": self._lost.get(host, "well")}
            for host in self.wanted.hosts
        ]
