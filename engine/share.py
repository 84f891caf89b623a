"""This process's share of a memory budget that several use: asked for when needed, given back when not."""

import asyncio
import logging
import math
from collections.abc import Callable

from config import format_size
from engine.book import Account
from engine.errors import EngineError
from engine.ledger import Ledger
from policy import Event, Job, Policy, Shared, WantedShare

log = logging.getLogger("cuzk.engine")

LEAST_STEP_BYTES, MOST_STEP_BYTES = 1 << 20, 256 << 20
ASK_EVERY_S = 0.25
LOOK_EVERY_S = 1.0
# Idle entries go to a process that has waited so long: keeping them would save it a load, not the other.
YIELD_AFTER_S = 1.0
# What is in use is let go in the end, too, after a turn: long enough that loading it again costs a tenth.
TURN_S, TURN_S_PER_GIB = 2.0, 10.0


class Share:
    """Stands between the ledger and the policy, on the event loop's thread.

    The policy is never told of more than the ledger has given, and the ledger is given back only what the
    policy does not reserve. What is held unreserved is one step at most, and nothing once somebody waits.
    """

    def __init__(
        self, ledger: Ledger, policy: Policy, send: Callable[[Event], None], now_s: Callable[[], float]
    ) -> None:
        self._ledger, self._policy, self._send, self._now_s = ledger, policy, send, now_s
        budget_bytes = policy.limits.budget_bytes
        self._step_bytes = min(max(budget_bytes // 64, LEAST_STEP_BYTES), MOST_STEP_BYTES)
        self._told = 0, False
        self._waits = False
        self._others: list[Account] = []
        self._turn_began_s = 0.0  # when this process was last given what it asked for
        self._seen_s: dict[int, float] = {}  # by the ticket of one who waits
        self._timer: asyncio.TimerHandle | None = None
        self._trouble: str | None = None

    def start(self) -> None:
        """Tell the policy that nothing is its own yet, and begin to look."""
        self._send(Shared(0, short=False))
        self._look()

    def close(self) -> None:
        """Leave the ledger; the policy must reserve nothing that is still in memory."""
        if self._timer is not None:
            self._timer.cancel()
        try:
            self._ledger.leave()
        except EngineError as error:  # whoever looks next strikes this process out once it has ended
            log.warning("%s", error)

    def before(self, job: Job) -> None:
        """A job comes while nothing runs: take what it may need first, so that no idle entry goes for it."""
        policy = self._policy
        if policy.partitions() or not policy.reserved_bytes:
            return
        needed_bytes = policy.reserved_bytes + job.circuit.entries_bytes + job.circuit.working_bytes
        if needed_bytes > self.share_bytes:
            self._try(lambda: self._ledger.take(needed_bytes))
            self._tell(self._ledger.share_bytes)

    def settle(self) -> None:
        """No event is pending: ask for what would let work start, give back what is not needed."""
        wanted = self._policy.wanted_share(self._now_s())
        if wanted is not None and (due_bytes := self._due_bytes()):
            self._give_way(wanted, due_bytes)
            return
        if wanted is not None:
            self._ask(wanted)
        elif self._waits:
            self._try(self._ledger.withdraw)
            self._note_waiting(False, 0)
            self._tell(self.share_bytes)
        if wanted is None or self._waits:
            self._give_back()

    def _ask(self, wanted: WantedShare) -> None:
        least_bytes, most_bytes = wanted.least_bytes, wanted.most_bytes + self._step_bytes
        if self._ledger.share_bytes < least_bytes:
            self._try(lambda: self._ledger.ask(least_bytes, most_bytes))
            if self._ledger.share_bytes >= least_bytes:
                self._turn_began_s = self._now_s()
        waits = self._ledger.share_bytes < least_bytes
        self._note_waiting(waits, least_bytes)
        self._tell(self.share_bytes if waits else self._ledger.share_bytes)

    def _due_bytes(self) -> int:
        """What those lack who asked before this process and have waited for its whole turn."""
        share_bytes, ticket = self._ledger.share_bytes, self._ledger.ticket
        turn_s = max(TURN_S, TURN_S_PER_GIB * share_bytes / (1 << 30))
        if not share_bytes or self._now_s() < self._turn_began_s + turn_s:
            return 0
        before = (each for each in self._waiting_for(turn_s) if ticket is None or (each.ticket or 0) < ticket)
        return sum(each.lacking_bytes for each in before)

    def _give_way(self, wanted: WantedShare, due_bytes: int) -> None:
        """Let nothing start in what others are due, though it is this process's, and give back what ends."""
        self._note_waiting(True, wanted.least_bytes)
        reserved_bytes = self._policy.reserved_bytes
        self._tell(max(0, reserved_bytes - due_bytes))
        if self._ledger.share_bytes > reserved_bytes:
            self._try(lambda: self._ledger.give_back(reserved_bytes))

    @property
    def share_bytes(self) -> int:
        """What the policy was told that it may use."""
        return self._told[0]

    def explain(self) -> str:
        """Who holds the memory that this process waits for; empty where it does not wait."""
        if not self._waits:
            return ""
        if self._trouble:
            return self._trouble
        involved = [each for each in self._others if each.share_bytes or each.ticket is not None]
        return "; ".join(map(_described, involved)) or "nobody holds it any more"

    def _give_back(self) -> None:
        spare_bytes = 0 if self._others_wait() else self._step_bytes
        keep_bytes = self._policy.reserved_bytes + spare_bytes
        if self._ledger.share_bytes > keep_bytes:
            self._tell(keep_bytes)
            self._try(lambda: self._ledger.give_back(keep_bytes))

    def _tell(self, share_bytes: int) -> None:
        if (share_bytes, self._waits) != self._told:
            self._told = share_bytes, self._waits
            self._send(Shared(share_bytes, short=self._waits))

    def _note_waiting(self, waits: bool, wanted_bytes: int) -> None:
        if waits and not self._waits:
            self._waits = True
            log.info(
                "waiting for a share of %s of the memory that processes share: %s",
                format_size(wanted_bytes),
                self.explain(),
            )
            self._look_in(ASK_EVERY_S)
        elif self._waits and not waits:
            self._waits = False
            log.info("the wait for a share of the memory is over")

    def _others_wait(self) -> bool:
        return any(each.ticket is not None for each in self._others)

    def _look(self) -> None:
        """Now and then: see who waits, ask again if this process does."""
        self._try(self._read, mends=False)
        self._look_in(ASK_EVERY_S if self._waits else LOOK_EVERY_S)
        self._yield_idle_entries()
        self.settle()

    def _read(self) -> None:
        _, self._others = self._ledger.look()
        now_s = self._now_s()
        tickets = [each.ticket for each in self._others if each.ticket is not None]
        self._seen_s = {ticket: self._seen_s.get(ticket, now_s) for ticket in tickets}

    def _waiting_for(self, seconds: float) -> list[Account]:
        """Those who were seen to wait for so long."""
        since_s = self._now_s() - seconds
        return [each for each in self._others if self._seen_s.get(each.ticket or 0, math.inf) <= since_s]

    def _look_in(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._look)

    def _yield_idle_entries(self) -> None:
        """Let the policy evict what it can for those who have waited a while."""
        lacking_bytes = sum(each.lacking_bytes for each in self._waiting_for(YIELD_AFTER_S))
        if lacking_bytes and self._policy.reserved_bytes:
            self._tell(max(0, self._policy.reserved_bytes - lacking_bytes))

    def _try(self, action: Callable[[], object], mends: bool = True) -> None:
        """Do it now or at the next look; what goes wrong is logged once, until what `mends` it goes well."""
        try:
            action()
            if mends:
                self._trouble = None
        except EngineError as error:
            if str(error) != self._trouble:
                self._trouble = str(error)
                log.error("%s", error)  # whoever begins meanwhile counts nothing of this process's


def _described(account: Account) -> str:
    who = f"{account.name} (process {account.pid})"
    holds = f"holds {format_size(account.share_bytes)}"
    if account.ticket is None:
        return f"{who} {holds}"
    waits = f"waits for {format_size(account.wanted_bytes)}"
    return f"{who} {holds} and {waits}" if account.share_bytes else f"{who} {waits}"
