"""Faults of admission, of host memory, of the order of work and of what is told of it."""

from collections import OrderedDict
from dataclasses import replace
from math import inf
from typing import Any

from policy import Failed, Loaded, Tick, Unload
from policy.budget import Budget, Reservation
from policy.budget_policy import RoomInBytes
from policy.cache import CachedEntry, EntryCache
from policy.circuits import Circuits
from policy.devices import DevicePool, DeviceWorkers
from policy.estimates import Estimate
from policy.explain import Queries
from policy.group import Group
from policy.model import Circuit, Device
from policy.records import JobRecord
from policy.scheduler import Scheduler
from policy.stages import Stages
from policy.waiting import WaitingRoom
from policy.work import Work
from tests.sim.torture.mutants.registry import Patch, mutant


@mutant(1)
def the_budget_is_taken_as_larger(patch: Patch) -> None:
    begin = Budget.__init__
    patch.setattr(Budget, "__init__", lambda self, limit_bytes: begin(self, limit_bytes and limit_bytes + 1))


@mutant(1, 6)
def a_devices_memory_is_not_looked_at(patch: Patch) -> None:
    begin = DeviceWorkers.__init__

    def without_limit(self: DeviceWorkers, device: Device) -> None:
        begin(self, device)
        self.memory.resize(None)

    patch.setattr(DeviceWorkers, "__init__", without_limit)


@mutant(1)
def one_more_synthesizes_than_there_are_slots(patch: Patch) -> None:
    may_synthesize = Stages.may_synthesize

    def one_more(self: Stages) -> bool:
        self._slots += 1
        may = may_synthesize(self)
        self._slots -= 1
        return may

    patch.setattr(Stages, "may_synthesize", one_more)


@mutant(1)
def a_lowered_budget_keeps_idle_entries(patch: Patch) -> None:
    patch.setattr(RoomInBytes, "excess", lambda _: [])


@mutant(2, 6)
def what_never_fits_is_taken(patch: Patch) -> None:
    patch.setattr(RoomInBytes, "refusal", lambda *_: None)


@mutant(2)
def what_just_fits_is_refused(patch: Patch) -> None:
    fits = RoomInBytes.refusal

    def refusal(self: RoomInBytes, circuit: Circuit, working_bytes: int) -> str | None:
        tight = circuit.entries_bytes + working_bytes == self._total_bytes
        return "just so" if tight else fits(self, circuit, working_bytes)

    patch.setattr(RoomInBytes, "refusal", refusal)


@mutant(3)
def a_partition_is_admitted_before_all_its_entries_are_loaded(patch: Patch) -> None:
    acquire = EntryCache.acquire

    def without_the_last(self: EntryCache, circuit: Circuit, now_s: float) -> Any:
        used, to_load = acquire(self, circuit, now_s)
        for entry in to_load[1:]:
            self._forget(self._entries[entry.key])
            self.loading -= 1
        kept = [cached for cached in used if cached.entry.key in self._entries]
        return kept, to_load[:1]

    patch.setattr(EntryCache, "acquire", without_the_last)


@mutant(4)
def the_most_recently_used_goes_first(patch: Patch) -> None:
    plan = EntryCache.plan_eviction

    def newest_first(self: EntryCache, lacking_bytes: int, spare: Any = lambda _: False) -> list[CachedEntry]:
        order = self.old, self.young
        self.old, self.young = (
            OrderedDict(reversed(self.young.items())),
            OrderedDict(reversed(self.old.items())),
        )
        try:
            return sorted(plan(self, lacking_bytes, spare), key=lambda cached: cached.idle_since_s)
        finally:
            self.old, self.young = order

    patch.setattr(EntryCache, "plan_eviction", newest_first)


@mutant(4)
def more_is_evicted_than_is_needed(patch: Patch) -> None:
    def all_idle(self: EntryCache, lacking_bytes: int, spare: Any = lambda _: False) -> list[CachedEntry]:
        idle = [*self.old.items(), *self.young.items()]
        plan = [cached for key, cached in idle if not spare(key)]
        return plan if sum(cached.entry.size_bytes for cached in plan) >= lacking_bytes else []

    patch.setattr(EntryCache, "plan_eviction", all_idle)


@mutant(4)
def young_entries_are_not_spared(patch: Patch) -> None:
    most = RoomInBytes.most_bytes
    patch.setattr(RoomInBytes, "most_bytes", lambda self, now_s, _forced: most(self, now_s, True))


@mutant(4, 0)
def an_entry_in_use_is_evicted(patch: Patch) -> None:
    release = EntryCache.release

    def idle_at_once(self: EntryCache, used: Any, now_s: float) -> None:
        release(self, used, now_s)
        for cached in used:
            if cached.users and cached.entry.key not in {**self.old, **self.young}:
                self._now_idle([cached], now_s)
                cached.users = 0

    patch.setattr(EntryCache, "release", idle_at_once)


@mutant(5, 7)
def priorities_are_ignored(patch: Patch) -> None:
    init = JobRecord.__init__
    patch.setattr(
        JobRecord,
        "__init__",
        lambda self, job, circuit, _effective_s, sequence: init(self, job, circuit, 0.0, sequence),
    )


@mutant(5, 0)
def the_last_come_is_first_served(patch: Patch) -> None:
    fitting = WaitingRoom.fitting
    patch.setattr(WaitingRoom, "fitting", lambda self, *needs: reversed(list(fitting(self, *needs))))


@mutant(5)
def nobody_holds_the_line(patch: Patch) -> None:
    patch.setattr(WaitingRoom, "_hold", lambda *_: None)
    patch.setattr(WaitingRoom, "_hold_no_longer", lambda *_: None)


@mutant(5)
def a_started_proof_waits_behind_new_ones(patch: Patch) -> None:
    patch.setattr(WaitingRoom, "_put_before_new_ones", WaitingRoom._insert)


@mutant(6, 0)
def a_failed_partition_keeps_its_reservation(patch: Patch) -> None:
    give_back = Work.give_back

    def only_if_well(self: Work, record: Any, now_s: float) -> None:
        if record.state.value == "failed":
            record.reservation = None
        give_back(self, record, now_s)

    patch.setattr(Work, "give_back", only_if_well)


@mutant(6)
def phase_1_is_not_given_back(patch: Patch) -> None:
    patch.setattr(Reservation, "release_part", lambda *_: None)


@mutant(6, 7)
def a_stopped_partition_keeps_its_device(patch: Patch) -> None:
    give_back = DevicePool.give_back
    patch.setattr(
        DevicePool,
        "give_back",
        lambda self, workers, holder, now_s: (
            give_back(self, workers, holder, now_s) if holder.index % 7 else None
        ),
    )


@mutant(6)
def a_failed_jobs_work_is_not_stopped(patch: Patch) -> None:
    patch.setattr(Work, "_stop", lambda *_: None)


@mutant(6)
def a_loaded_entry_keeps_what_it_does_not_take(patch: Patch) -> None:
    loaded = EntryCache.loaded
    patch.setattr(
        EntryCache,
        "loaded",
        lambda self, cached, _, now_s: loaded(self, cached, cached.size_bytes, now_s),
    )


@mutant(6)
def an_evicted_entry_gives_back_what_it_was_said_to_take(patch: Patch) -> None:
    """More than it holds, if it was loaded and took less."""

    def forget(self: EntryCache, cached: CachedEntry) -> None:
        del self._entries[cached.entry.key]
        self._budget.free_bytes += cached.entry.size_bytes
        self._budget.reserved_bytes -= cached.entry.size_bytes

    patch.setattr(EntryCache, "_forget", forget)


@mutant(7)
def the_end_of_a_load_wakes_nobody(patch: Patch) -> None:
    handlers = Scheduler.__init__

    def deaf(self: Scheduler, *arguments: Any) -> None:
        handlers(self, *arguments)
        self._handlers[Loaded] = lambda event, now_s: self._work.loaded(
            self._work.loading_entry(event), event.size_bytes, now_s
        )

    patch.setattr(Scheduler, "__init__", deaf)


@mutant(7, 1)
def a_failure_wakes_nobody(patch: Patch) -> None:
    start = Scheduler._start
    failed = Scheduler._failed

    def quiet(self: Scheduler, event: Failed, now_s: float) -> None:
        self.__dict__["quiet"] = True
        failed(self, event, now_s)
        self.__dict__["quiet"] = False

    patch.setattr(Scheduler, "_failed", quiet)
    patch.setattr(
        Scheduler,
        "_start",
        lambda self, now_s: None if self.__dict__.get("quiet") else start(self, now_s),
    )


@mutant(7)
def no_timer_is_asked_for(patch: Patch) -> None:
    patch.setattr(RoomInBytes, "_ask_to_wake", lambda *_: None)


@mutant(7)
def the_timer_is_not_heeded(patch: Patch) -> None:
    init = Scheduler.__init__

    def deaf(self: Scheduler, *arguments: Any) -> None:
        init(self, *arguments)
        self._handlers[Tick] = lambda _event, _now_s: None

    patch.setattr(Scheduler, "__init__", deaf)


@mutant(7)
def young_entries_block_what_nothing_else_unblocks(patch: Patch) -> None:
    most = RoomInBytes.most_bytes
    patch.setattr(RoomInBytes, "most_bytes", lambda self, now_s, _forced: most(self, now_s, False))


@mutant(7)
def only_the_first_in_turn_is_looked_at(patch: Patch) -> None:
    fitting = WaitingRoom.fitting

    def first(self: WaitingRoom, *needs: Any) -> list[Group]:
        return [group for group in fitting(self, *needs) if group is next(iter(self.line))]

    patch.setattr(WaitingRoom, "fitting", first)


@mutant(7)
def work_piles_up_before_the_devices(patch: Patch) -> None:
    closed_to = Stages.closed_to
    patch.setattr(Stages, "closed_to", lambda self: (closed_to(self)[0], None))


@mutant(0)
def a_question_fails(patch: Patch) -> None:
    patch.setattr(
        Queries, "_loads_of", lambda _self, record: "".join([each.entry for each in record.entries])
    )


@mutant(0)
def a_wait_has_no_cause(patch: Patch) -> None:
    patch.setattr(Queries, "wait_cause", lambda *_: None)


@mutant(0, 5)
def the_order_is_not_that_of_the_events(patch: Patch) -> None:
    """Another each time: as a set's order may be, or a dictionary's of objects by their addresses."""
    turns = iter(range(10**9))
    fitting = WaitingRoom.fitting

    def turned(self: WaitingRoom, *needs: Any) -> list[Group]:
        key = next(turns) % 5
        order = fitting(self, *needs)
        return sorted(order, key=lambda group: (group.rank[0], (group.rank[1] * 31) % (key + 2)))

    patch.setattr(WaitingRoom, "fitting", turned)


@mutant(3)
def measurements_are_not_heeded(patch: Patch) -> None:
    patch.setattr(Estimate, "measured", lambda *_: False)


@mutant(7)
def the_lookahead_in_bytes_is_not_heeded(patch: Patch) -> None:
    patch.setattr(Stages, "bytes_open", lambda _: True)


@mutant(0, 1, 6)
def a_crowded_device_is_filled_as_before(patch: Patch) -> None:
    patch.setattr(Estimate, "crowded", lambda *_: True)


@mutant(5)
def due_times_are_not_heeded(patch: Patch) -> None:
    take = Work.take
    patch.setattr(Work, "take", lambda self, job, *when: take(self, replace(job, due_s=None), *when))


@mutant(5, 7)
def a_batch_waits_for_ever(patch: Patch) -> None:
    patch.setattr(WaitingRoom, "release_gathered", lambda *_: None)
    patch.setattr(WaitingRoom, "next_gathered_s", lambda _: inf)


@mutant(4)
def what_is_wanted_first_is_evicted(patch: Patch) -> None:
    patch.setattr(Circuits, "wanted_before", lambda *_: False)


@mutant(2, 6)
def a_replaced_file_is_taken(patch: Patch) -> None:
    patch.setattr(Circuits, "conflict", lambda *_: None)


@mutant(0)
def a_report_of_what_is_loaded_is_taken_again(patch: Patch) -> None:
    patch.setattr(Work, "loading_entry", lambda self, event: self.cache.find(event.entry_key))


@mutant(4)
def what_is_unloaded_stays(patch: Patch) -> None:
    patch.setattr(Scheduler, "_unload", lambda *_: None)


@mutant(7)
def the_room_of_what_is_unloaded_waits_for_the_next_event(patch: Patch) -> None:
    unload = Scheduler._unload

    def alone(self: Scheduler, event: Unload, now_s: float) -> None:
        with Patch.context() as inner:
            inner.setattr(Scheduler, "_start", lambda *_: None)
            unload(self, event, now_s)

    patch.setattr(Scheduler, "_unload", alone)
