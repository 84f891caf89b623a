"""One event after the other, in the order of arrival, each with a time that never goes back."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from engine.dispatch import Dispatcher
from policy import Decision, Event, Loaded, ProtocolError, Tick, WakeAt


class Script:
    """A policy that answers from a table, and a driver that notes what happens in which order."""

    def __init__(
        self, answers: dict[Event, list[Decision]], on_execute: Callable[[], None] = lambda: None
    ) -> None:
        self.answers, self.on_execute = answers, on_execute
        self.log: list[str] = []
        self.times: list[float] = []

    def handle(self, event: Event, now_s: float) -> list[Decision]:
        self.log.append(f"handle {event}")
        self.times.append(now_s)
        if isinstance(event, Loaded) and event.entry_key == "never asked for":
            raise ProtocolError("Loaded of an entry that is not loading")
        return self.answers.get(event, [])

    def observe(self, event: Event, decisions: Sequence[Decision], at_s: float) -> None:
        assert at_s == self.times[-1]
        self.log.append(f"observe {event} {len(decisions)}")

    def settle(self) -> None:
        self.log.append("settle")

    def execute(self, decision: Decision, at_s: float) -> None:
        assert at_s == self.times[-1]
        self.log.append(f"begin {decision}")
        self.on_execute()
        self.log.append(f"end {decision}")


def run(steps: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(steps())


def dispatcher(script: Script, broken: Callable[[Exception], None]) -> Dispatcher:
    return Dispatcher(script, script, asyncio.get_running_loop().time(), broken)  # type: ignore[arg-type]  # a script


def fail(error: Exception) -> None:
    raise AssertionError from error


def test_an_event_sent_during_execution_waits_for_its_turn() -> None:
    first, second = Loaded("a"), Loaded("b")
    script = Script({first: [WakeAt(1.0), WakeAt(2.0)]})

    async def steps() -> None:
        sender = dispatcher(script, fail)
        sent = iter([second])
        script.on_execute = lambda: [sender.send(event) for event in sent] and None
        sender.send(first)

    run(steps)
    assert script.log == [
        f"handle {first}",
        f"observe {first} 2",
        f"begin {WakeAt(1.0)}",
        f"end {WakeAt(1.0)}",
        f"begin {WakeAt(2.0)}",
        f"end {WakeAt(2.0)}",
        f"handle {second}",
        f"observe {second} 0",
        "settle",
    ]


def test_times_never_go_back() -> None:
    script = Script({})

    async def steps() -> None:
        sender = dispatcher(script, fail)
        for _ in range(100):
            sender.send(Tick())
            await asyncio.sleep(0)

    run(steps)
    assert len(script.times) == 100
    assert script.times == sorted(script.times)


def test_a_tick_comes_at_the_time_asked_for_last_and_not_before() -> None:
    script = Script({})

    async def steps() -> None:
        sender = dispatcher(script, fail)
        sender.wake_at(0.001)
        sender.wake_at(0.03)
        await asyncio.sleep(0.2)

    run(steps)
    (at_s,) = script.times
    assert at_s >= 0.03


def test_a_mistake_is_told_once_and_nothing_is_taken_after_it() -> None:
    script, told = Script({}), []

    async def steps() -> None:
        sender = dispatcher(script, told.append)
        sender.send(Loaded("never asked for"))
        sender.send(Tick())
        assert sender.error is told[0]

    run(steps)
    assert [type(error) for error in told] == [ProtocolError]
    assert len(script.times) == 1
