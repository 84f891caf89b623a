"""What is written can be read, and nothing else is taken for it."""

import json

import hypothesis.strategies as st
import pytest
from hypothesis import given

from policy import (
    Circuit,
    CodecError,
    Decision,
    Device,
    Entry,
    Event,
    Job,
    Limits,
    PartitionId,
    Priority,
    Submit,
)
from policy.codec import (
    decode_decision,
    decode_event,
    decode_limits,
    encode_decision,
    encode_event,
    encode_limits,
)

seconds = st.floats(0, 1e9)
entries = st.lists(st.builds(Entry, st.text(), st.integers(0, 2**70)), max_size=3, unique_by=lambda e: e.key)
on_device = st.none() | st.builds(Entry, st.text(), st.integers(0, 2**70))
circuits = st.builds(Circuit, st.text(), entries.map(tuple), *[st.integers(0, 2**70)] * 3, on_device)
st.register_type_strategy(Entry, st.builds(Entry, st.text(), st.integers(0, 2**70)))
st.register_type_strategy(Circuit, circuits)
st.register_type_strategy(
    Job,
    st.builds(Job, st.text(), circuits, st.integers(1, 99), st.sampled_from(Priority), st.none() | seconds),
)
st.register_type_strategy(PartitionId, st.builds(PartitionId, st.text(), st.integers(0, 99)))
devices = st.builds(Device, st.just("gpu"), st.integers(1, 9), st.none() | st.integers(1, 2**70))
limits = st.builds(
    Limits,
    *[st.integers(1, 99)] * 2,
    st.tuples(devices),
    st.integers(0, 9),
    seconds,
    st.integers(0, 9),
    seconds,
    st.none() | st.integers(1, 2**70),
    st.booleans(),
    st.integers(1, 9),
    seconds,
)
sizes = {
    "size_bytes": st.none() | st.integers(0, 2**70),
    "share_bytes": st.integers(0, 2**70),
    "budget_bytes": st.integers(1, 2**70),
    "working_bytes": st.integers(0, 2**70),
}
events = st.one_of(
    [
        st.builds(kind, **{name: sizes[name] for name in sizes.keys() & kind.__annotations__.keys()})
        for kind in Event.__args__
    ]
)
decisions = st.one_of(
    [
        st.builds(kind, **({"at_s": seconds} if kind.__name__ == "WakeAt" else {}))
        for kind in Decision.__args__
    ]
)


@given(events)
def test_events_survive_json(event: Event) -> None:
    assert decode_event(json.loads(json.dumps(encode_event(event)))) == event


@given(decisions)
def test_decisions_survive_json(decision: Decision) -> None:
    assert decode_decision(json.loads(json.dumps(encode_decision(decision)))) == decision


@given(limits)
def test_limits_survive_json(limits: Limits) -> None:
    assert decode_limits(json.loads(json.dumps(encode_limits(limits)))) == limits


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        {"type": "Reject", "job_id": "a", "why": "a decision"},
        {"type": "Tick", "more": 1},
        {"type": "Loaded"},
        {"type": "Loaded", "entry_key": 3},
        {"type": "Loaded", "entry_key": "srs", "size_bytes": -1},
        {"type": "Proved", "partition": ["a"]},
        {"type": "Proved", "partition": ["a", "0"]},
        {"type": "Proved", "partition": ["a", True]},
        {"type": "Resized", "budget_bytes": 0},
        {"type": "Resized", "budget_bytes": 1.5},
        {"type": "Shared", "share_bytes": -1},
    ],
)
def test_anything_else_is_refused(value: object) -> None:
    with pytest.raises(CodecError, match="is no event"):
        decode_event(value)  # type: ignore[arg-type]  # that is the point


def test_a_field_of_a_later_version_has_its_default() -> None:
    job = Job("a", Circuit("c", (), 1, 1))
    value = encode_event(Submit(job))
    del value["job"]["due_s"]
    assert decode_event(value) == Submit(job)


def test_limits_without_a_field_are_refused() -> None:
    value = encode_limits(Limits(1, 1, (Device("cpu", 1),)))
    del value["devices"]
    with pytest.raises(CodecError, match="expected budget_bytes"):
        decode_limits(value)
