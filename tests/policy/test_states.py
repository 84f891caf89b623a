"""The table of a partition's life, and that the policy keeps to it."""

import pytest

from policy import (
    TERMINAL,
    TRANSITIONS,
    BudgetPolicy,
    Cancel,
    Circuit,
    Entry,
    Event,
    Fail,
    Failed,
    Job,
    Loaded,
    PartitionId,
    PartitionState,
    ProtocolError,
    Proved,
    QuotientDone,
    Submit,
    Synthesized,
    Verified,
)
from tests.policy.scenario import limits

P = PartitionId("job", 0)
JOB = Job("job", Circuit("circuit", (Entry("entry", 1),), 2, 3))
WAY = [Submit(JOB), Loaded("entry"), Synthesized(P), QuotientDone(P), Proved(P), Verified(P)]
REPORTS: list[Event] = [Synthesized(P), QuotientDone(P), Proved(P), Verified(P)]


def after(steps: int, *more: Event) -> BudgetPolicy:
    policy = BudgetPolicy(limits(100))
    for at_s, event in enumerate([*WAY[:steps], *more]):
        policy.handle(event, float(at_s))
    return policy


def test_every_state_can_be_reached_and_left() -> None:
    reached = {state for row in TRANSITIONS.values() for state in row.values()}
    assert reached | {PartitionState.WAITING} == set(PartitionState) == set(TRANSITIONS)
    assert [state for state, row in TRANSITIONS.items() if not row] == list(TERMINAL)


@pytest.mark.parametrize("state", [state for state in PartitionState if state not in TERMINAL])
def test_every_live_state_can_fail_and_be_cancelled(state: PartitionState) -> None:
    row = {trigger.__name__: target for trigger, target in TRANSITIONS[state].items()}
    assert row["Failed"] in TERMINAL
    assert "Cancel" in row or "Stop" in row or state is PartitionState.STOPPING


@pytest.mark.parametrize(
    ("steps", "state", "held_bytes"),
    [
        (1, PartitionState.LOADING, 5),
        (2, PartitionState.SYNTHESIZING, 5),
        (3, PartitionState.PROVING, 5),
        (4, PartitionState.QUOTIENT_DONE, 3),
        (5, PartitionState.PROVED, 0),
    ],
)
def test_the_way_of_a_partition_and_its_end_anywhere(
    steps: int, state: PartitionState, held_bytes: int
) -> None:
    policy = after(steps)
    assert (policy.state(P), policy.reserved_bytes_of(P)) == (state, held_bytes)
    for end in ([Failed(P, "broken")], [Cancel("job"), *([Failed(P, "stopped")] if steps > 1 else [])]):
        ended = after(steps, *end)
        assert ended.idle
        assert ended.reserved_bytes == 1  # the entry
        assert ended.handle(Cancel("job"), 99.0) == []


@pytest.mark.parametrize("steps", range(1, 6))
@pytest.mark.parametrize("event", REPORTS)
def test_reports_out_of_turn_are_refused_and_change_nothing(steps: int, event: Event) -> None:
    policy = after(steps)
    state = policy.state(P)
    if type(event) in TRANSITIONS[state]:
        return
    with pytest.raises(
        ProtocolError, match=rf"{type(event).__name__} of partition job\[0\] in state {state.value}"
    ):
        policy.handle(event, 50.0)
    assert policy.state(P) is state
    for at_s, rest in enumerate(WAY[steps:], start=50):
        policy.handle(rest, float(at_s))
    assert policy.idle


def test_reports_that_cross_a_stop_give_back_but_do_not_end_it() -> None:
    policy = after(2, Cancel("job"))
    assert policy.handle(Synthesized(P), 10.0) == []
    assert (policy.state(P), policy.reserved_bytes_of(P)) == (PartitionState.STOPPING, 5)
    assert policy.handle(Failed(P, "stopped"), 10.0) == [Fail("job", "cancelled")]
    policy = after(3, Cancel("job"))
    for event, held_bytes in [(QuotientDone(P), 3), (Proved(P), 0)]:
        assert policy.handle(event, 10.0) == []
        assert (policy.state(P), policy.reserved_bytes_of(P)) == (PartitionState.STOPPING, held_bytes)
    with pytest.raises(ProtocolError):
        policy.handle(Proved(P), 10.0)
    assert policy.handle(Verified(P), 10.0) == [Fail("job", "cancelled")]


def test_time_does_not_go_back_and_ids_are_not_used_twice() -> None:
    policy = after(1)
    with pytest.raises(ProtocolError, match="unfinished"):
        policy.handle(Submit(JOB), 1.0)
    with pytest.raises(ProtocolError, match="after an event at"):
        policy.handle(Loaded("entry"), -1.0)
    with pytest.raises(ProtocolError, match="after an event at"):
        policy.handle(Loaded("entry"), float("nan"))
    with pytest.raises(ProtocolError, match="not in memory"):
        policy.handle(Loaded("other"), 1.0)
    with pytest.raises(ProtocolError, match="no unfinished job"):
        policy.handle(Failed(PartitionId("job", 1), ""), 1.0)
    with pytest.raises(ProtocolError, match="no event"):
        policy.handle("Loaded", 1.0)  # type: ignore[arg-type]  # that is the point
    with pytest.raises(ProtocolError, match="with 99 bytes, expected at most the 1 that"):
        policy.handle(Loaded("entry", 99), 1.0)
    policy.handle(Loaded("entry"), 1.0)
    with pytest.raises(ProtocolError, match="is loaded"):
        policy.handle(Loaded("entry"), 1.0)
