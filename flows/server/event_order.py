"""In what order the server's automations see events: Prefect's, but with patience for seconds only.

A change of a run's state says which change it follows, and automations do not see it before that one. What a
server has seen it forgets when it ends, so of a run that outlives a restart each change would wait for one
that has been, for the 15 minutes that Prefect gives it: an alert comes too late, or never. Here the one that
it follows is late by seconds at most, since one process has the queue.
"""

from datetime import timedelta

from prefect.server.events.ordering import memory
from prefect.server.events.schemas.events import ReceivedEvent
from prefect.types._datetime import now
from typing_extensions import override

WAIT_AT_MOST = timedelta(seconds=15)
"""Less than after what time a run without a sign of life is marked as crashed, which its end forestalls."""


class CausalOrdering(memory.CausalOrdering):
    """Named so for PREFECT_SERVER_EVENTS_CAUSAL_ORDERING, which names this module."""

    @override
    async def wait_for_leader(self, event: ReceivedEvent) -> None:
        if now("UTC") - event.received < WAIT_AT_MOST:
            await super().wait_for_leader(event)

    @override
    async def get_lost_followers(self) -> list[ReceivedEvent]:
        """The events that have waited for too long, in the order they occurred; the server asks every 5 s."""
        until = now("UTC") - WAIT_AT_MOST
        async with self._lock:
            lost = [self._events[each] for each, since in self._waitlist.items() if since <= until]
        for event in lost:
            await self.forget_follower(event)
        return sorted(lost, key=lambda event: event.occurred)
