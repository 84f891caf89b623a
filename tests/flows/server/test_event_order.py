"""Events that follow one that the server has not seen, and those that follow one it has."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from prefect.server.events.ordering import CausalOrderingModule, EventArrivedEarly
from prefect.server.events.schemas.events import ReceivedEvent
from prefect.types._datetime import now

from flows.server import event_order
from flows.server.event_order import WAIT_AT_MOST, CausalOrdering
from flows.server.local import EVENTS

LONG_AGO = WAIT_AT_MOST + timedelta(seconds=1)


@pytest.fixture
def order() -> Iterator[CausalOrdering]:
    yield CausalOrdering("test")
    CausalOrdering.clear_all_scopes()


def state_change(follows: UUID | None) -> ReceivedEvent:
    fields = {
        "id": uuid4(),
        "event": "prefect.flow-run.Failed",
        "resource": {"prefect.resource.id": f"prefect.flow-run.{uuid4()}"},
        "occurred": now("UTC"),
        "follows": follows,
    }
    return ReceivedEvent.model_validate(fields)


async def seen(order: CausalOrdering, received: ReceivedEvent) -> list[UUID]:
    """Which events automations see once the server has this one."""
    found: list[UUID] = []

    async def see(event: ReceivedEvent, depth: int = 0) -> None:
        async with order.preceding_event_confirmed(see, event, depth):
            found.append(event.id)

    try:
        await see(received)
    except EventArrivedEarly:
        assert not found
    return found


def test_the_server_is_told_of_it_by_name(order: CausalOrdering) -> None:
    assert set(EVENTS.values()) == {event_order.__name__}
    assert isinstance(event_order, CausalOrderingModule)
    assert order is CausalOrdering("test"), "the server makes one for each event"


def test_what_comes_before_the_one_that_it_follows_waits_for_that(order: CausalOrdering) -> None:
    async def both() -> None:
        first = state_change(None)
        second = state_change(first.id)
        assert await seen(order, second) == []
        assert await seen(order, first) == [first.id, second.id]
        assert await order.get_lost_followers() == []

    asyncio.run(both())


def test_what_follows_one_that_another_server_has_seen_waits_for_seconds(order: CausalOrdering) -> None:
    async def pending_and_then_failed() -> None:
        pending = state_change(uuid4())
        failed = state_change(pending.id)
        assert await seen(order, pending) == []
        assert await seen(order, failed) == []
        assert await order.get_lost_followers() == []
        for each in (pending, failed):  # meanwhile
            each.received -= LONG_AGO
            order._waitlist[each.id] = each.received
        lost = await order.get_lost_followers()
        assert [each.id for each in lost] == [pending.id, failed.id]
        assert [one for each in lost for one in await seen(order, each)] == [pending.id, failed.id]
        assert await order.get_lost_followers() == []

    asyncio.run(pending_and_then_failed())
