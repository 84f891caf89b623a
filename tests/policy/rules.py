"""The rules of admission as checks on a `World`, found by adding up and trying out."""

from collections.abc import Callable
from copy import deepcopy

from policy import (
    Admit,
    Complete,
    Decision,
    Event,
    Evict,
    Fail,
    Load,
    PartitionId,
    Prove,
    Reject,
    Stop,
    Submit,
    Synthesize,
    WakeAt,
)
from tests.policy.world import Stored, Waiting, World

Room = Callable[[World, Waiting, bool], bool]
ORDER: list[tuple[type, ...]] = [
    (Stop,),
    (Evict,),
    (Admit,),
    (Load,),
    (Synthesize,),
    (Prove,),
    (Complete, Fail, Reject),
    (WakeAt,),
]


def send(world: World, event: Event, room: Room) -> list[Decision]:
    """Let the event happen, ask the policy, do what it says, and check every rule."""
    world.happen(event)
    stalled, host_bytes, idle = world.stalled(), world.host_bytes, deepcopy(world.idle())
    decisions = world.policy.handle(event, world.now_s)
    turns = [next(i for i, kinds in enumerate(ORDER) if isinstance(d, kinds)) for d in decisions]
    assert turns == sorted(turns)
    for decision in decisions:
        world.execute(decision)
        within_memory(world)
    world.note_idle()
    if isinstance(event, Submit):
        refused_only_if_impossible(world, event, decisions)
    evictions_justified(world, decisions, stalled, host_bytes, idle)
    counts_agree(world)
    nobody_starves(world)
    nothing_piles_up(world, decisions)
    nothing_could_start(world, room)
    return decisions


def room_in_bytes(world: World, waiting: Waiting, in_time: bool) -> bool:
    """Whether a partition fits if idle entries go that are old enough (all, `in_time` or where stalled)."""
    keys = {entry.key for entry in waiting.job.circuit.entries}
    free = world.limit_bytes - world.host_bytes
    for key, stored in world.idle().items():
        assert stored.idle_since_s is not None
        if key not in keys and (in_time or world.stalled() or old_enough(world, stored)):
            free += stored.entry.size_bytes
    return waiting.job.circuit.working_bytes + world.missing_bytes(waiting.job) <= free


def room_in_number(partitions_at_once: int) -> Room:
    return lambda world, _waiting, _in_time: world.holding() < partitions_at_once


def old_enough(world: World, stored: Stored) -> bool:
    assert stored.idle_since_s is not None
    return stored.idle_since_s + world.limits.eviction_min_idle_s <= world.now_s


def within_memory(world: World) -> None:
    """Rule 1, after every single decision."""
    world.ceiling_bytes = max(world.limit_bytes, min(world.ceiling_bytes, world.host_bytes))
    assert world.host_bytes <= world.ceiling_bytes
    for device in world.limits.devices:
        assert sum(held.device == device.name for held in world.partitions.values()) <= device.workers
        assert device.memory_bytes is None or world.device_bytes(device.name) <= device.memory_bytes
    assert len(world.at("synthesizing")) <= world.limits.synthesis_slots


def refused_only_if_impossible(world: World, event: Submit, decisions: list[Decision]) -> None:
    """Rule 2."""
    circuit, limits = event.job.circuit, world.limits
    impossible = circuit.entries_bytes + circuit.working_bytes > limits.budget_bytes or not any(
        device.memory_bytes is None or circuit.device_bytes <= device.memory_bytes
        for device in limits.devices
    )
    assert any(isinstance(decision, Reject) for decision in decisions) == impossible


def evictions_justified(
    world: World, decisions: list[Decision], stalled: bool, host_bytes: int, idle: dict[str, Stored]
) -> None:
    """Rule 4: for an admission or a smaller budget; not young without need, none in vain, oldest first."""
    evicted = [idle[d.entry.key] for d in decisions if isinstance(d, Evict)]
    if not evicted:
        return
    limit_bytes = world.limit_bytes
    admitted = [world.partitions[d.partition] for d in decisions if isinstance(d, Admit)]
    if host_bytes <= limit_bytes:
        assert admitted
        assert stalled or all(old_enough(world, stored) for stored in evicted)
    if len(admitted) == 1 and host_bytes <= limit_bytes:
        assert all(world.host_bytes + stored.entry.size_bytes > limit_bytes for stored in evicted)
        youngest = max(evicted, key=lambda stored: stored.idle_since_s or 0.0)
        freed_bytes = sum(stored.entry.size_bytes for stored in evicted)
        older = [s for key, s in idle.items() if older_than(s, youngest) and key not in admitted[0].keys]
        older_bytes = sum(stored.entry.size_bytes for stored in older)
        assert world.host_bytes + freed_bytes - older_bytes > limit_bytes


def older_than(one: Stored, other: Stored) -> bool:
    assert one.idle_since_s is not None
    assert other.idle_since_s is not None
    return one.idle_since_s < other.idle_since_s


def counts_agree(world: World) -> None:
    """Rules 3 and 6: the policy's books say what the machine holds, and whoever waits has one cause."""
    policy = world.policy
    assert policy.reserved_bytes == world.host_bytes
    assert policy.idle == (not world.running)
    if world.host_bytes > world.limit_bytes:
        assert not any(stored.entry.size_bytes for stored in world.idle().values())
    for device in world.limits.devices:
        own = 0 if device.memory_bytes is None else world.device_bytes(device.name)
        assert policy.device_reserved_bytes(device.name) == own
    assert set(policy.partitions()) == set(world.partitions)
    for p, held in world.partitions.items():
        assert policy.reserved_bytes_of(p) == held.host_bytes
        assert all(key in world.stored for key in held.keys)
        waits = held.at in ("admitted", "synthesized") and not held.stopping
        assert (policy.wait_cause(p) is not None) == waits
        assert policy.explain(p).startswith(str(p))
    for waiting in world.waiting.values():
        p = PartitionId(waiting.job.id, waiting.next_index)
        assert policy.wait_cause(p) is not None
        assert policy.explain(p).startswith(f"{p} waits for")


def nobody_starves(world: World) -> None:
    """Rule 5."""
    limit = world.limits.overtake_limit
    for waiting in world.waiting.values():
        assert waiting.overtaken <= limit
        assert waiting.overtaken_by_peers <= limit * (waiting.ahead + waiting.next_index + 1)


def lookahead(world: World) -> tuple[int, int, int]:
    """Partitions that wait for a device, workers that wait for one, and partitions that synthesize."""
    queue = [p for p in world.at("synthesized") if not world.partitions[p].stopping]
    workers = sum(device.workers for device in world.limits.devices)
    return len(queue), workers - len(world.at("proving", "quotient")), len(world.at("synthesizing"))


def nothing_piles_up(world: World, decisions: list[Decision]) -> None:
    """What is admitted or synthesized ahead of need is bounded."""
    assert len(world.at("admitted")) <= world.limits.synthesis_slots
    for decision in decisions:
        if isinstance(decision, Admit) and world.loaded(world.partitions[decision.partition].keys):
            assert world.partitions[decision.partition].at == "synthesizing"
    if any(isinstance(decision, Synthesize) for decision in decisions):
        waiting, idle_workers, synthesizing = lookahead(world)
        assert waiting < world.limits.synthesis_lookahead or waiting + synthesizing <= idle_workers


def nothing_could_start(world: World, room: Room) -> None:
    """Rule 7: whatever waits has no room, or gives way to somebody who was overtaken too often.

    If time alone makes room, a timer is set.
    """
    limits = world.limits
    waiting, idle_workers, synthesizing = lookahead(world)
    ahead = waiting < limits.synthesis_lookahead or waiting + synthesizing < idle_workers
    may_synthesize = synthesizing < limits.synthesis_slots and ahead
    admitted = [world.partitions[p] for p in world.at("admitted")]
    may_load = len(admitted) < limits.synthesis_slots
    nothing_could_prove(world)
    for held in admitted:
        assert not (may_synthesize and world.loaded(held.keys))
    held_up = min([w.rank for w in world.heads() if w.overtaken >= limits.overtake_limit], default=None)
    for head in world.heads():
        hot = world.loaded(tuple(entry.key for entry in head.job.circuit.entries))
        if (may_synthesize if hot else may_load) and (held_up is None or head.rank <= held_up):
            assert not room(world, head, False)
            assert world.wake_at_s is not None or not room(world, head, True)


def nothing_could_prove(world: World) -> None:
    queue = [world.partitions[p] for p in world.at("synthesized") if not world.partitions[p].stopping]
    if not any(held.passed >= world.limits.overtake_limit for held in queue):
        assert not any(device_free(world, held.job.circuit.device_bytes) for held in queue)


def device_free(world: World, device_bytes: int) -> bool:
    for device in world.limits.devices:
        busy = sum(held.device == device.name for held in world.partitions.values())
        own = device.memory_bytes
        if busy < device.workers and (own is None or world.device_bytes(device.name) + device_bytes <= own):
            return True
    return False
