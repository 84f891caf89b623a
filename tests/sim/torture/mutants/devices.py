"""Faults of what devices keep of circuits, and of devices that are lost."""

from collections import OrderedDict
from dataclasses import replace
from typing import Any

import policy.scheduler
from policy.cache import CachedEntry
from policy.devices import DevicePool, DeviceWorkers
from policy.model import Circuit, Entry
from policy.records import JobRecord
from policy.residents import Residents
from tests.sim.torture.mutants.registry import Patch, mutant


@mutant(1, 6)
def an_entry_takes_no_memory_of_a_device(patch: Patch) -> None:
    use = Residents.use

    def free_of_charge(self: Residents, entry: Entry, now_s: float) -> Any:
        cached, missing = use(self, entry, now_s)
        if missing:
            cached.reservation.release_part(entry.size_bytes)
        return cached, missing

    patch.setattr(Residents, "use", free_of_charge)


@mutant(1, 6)
def each_partition_takes_an_entry_of_its_own(patch: Patch) -> None:
    hold = DeviceWorkers.hold

    def with_entry(self: DeviceWorkers, holder: Any, entry: Any, device_bytes: int, now_s: float) -> bool:
        again = self.holds(entry)
        return hold(self, holder, entry, device_bytes + (entry.size_bytes if again else 0), now_s)

    patch.setattr(DeviceWorkers, "hold", with_entry)


@mutant(2, 6)
def what_no_device_can_hold_is_taken(patch: Patch) -> None:
    refusal = policy.scheduler.device_refusal

    def without_entry(circuit: Circuit, *devices: Any) -> str | None:
        return refusal(replace(circuit, device_entry=None), *devices)

    patch.setattr(policy.scheduler, "device_refusal", without_entry)


@mutant(3)
def an_entry_is_not_sent(patch: Patch) -> None:
    take = DevicePool.take
    patch.setattr(DevicePool, "take", lambda *arguments: take(*arguments) and False)


@mutant(4)
def an_entry_in_use_goes_from_a_device(patch: Patch) -> None:
    """As soon as the first of two has its proof."""
    release = Residents.release

    def with_the_first(self: Residents, used: Any, now_s: float) -> None:
        for cached in used:
            cached.users = 1
        release(self, used, now_s)

    patch.setattr(Residents, "release", with_the_first)


@mutant(4)
def the_most_recently_used_goes_first_from_a_device(patch: Patch) -> None:
    plan = Residents.plan_eviction

    def newest_first(self: Residents, lacking_bytes: int, spare: Any) -> list[CachedEntry]:
        order, self.young = self.young, OrderedDict(reversed(self.young.items()))
        try:
            return plan(self, lacking_bytes, spare)
        finally:
            self.young = order

    patch.setattr(Residents, "plan_eviction", newest_first, raising=False)


@mutant(4)
def more_goes_from_a_device_than_has_to(patch: Patch) -> None:
    def all_idle(self: Residents, lacking_bytes: int, spare: Any) -> list[CachedEntry]:
        plan = [cached for key, cached in self.young.items() if not spare(key)]
        return plan if sum(cached.size_bytes for cached in plan) >= lacking_bytes else []

    patch.setattr(Residents, "plan_eviction", all_idle, raising=False)


@mutant(4)
def work_goes_anywhere_but_to_its_entry(patch: Patch) -> None:
    patch.setattr(DeviceWorkers, "holds", lambda *_: False)


@mutant(4, 7)
def work_waits_for_the_device_that_holds_its_entry(patch: Patch) -> None:
    pick = DevicePool.pick

    def only_there(self: DevicePool, circuit: Circuit, device_bytes: int) -> Any:
        place = pick(self, circuit, device_bytes)
        entry = circuit.device_entry
        elsewhere = entry is not None and any(self.find(entry.key))
        return None if place and elsewhere and not place[0].holds(entry) else place

    patch.setattr(DevicePool, "pick", only_there)


@mutant(7)
def no_idle_entry_makes_room_on_a_device(patch: Patch) -> None:
    evictions_for = DeviceWorkers.evictions_for
    patch.setattr(DeviceWorkers, "evictions_for", lambda *arguments: evictions_for(*arguments) and None)


@mutant(1, 7)
def a_lost_device_gets_work(patch: Patch) -> None:
    lose = DeviceWorkers.lose

    def goes_on(self: DeviceWorkers) -> None:
        idle = self.idle
        lose(self)
        self.idle = idle

    patch.setattr(DeviceWorkers, "lose", goes_on)


@mutant(6)
def a_lost_devices_entries_stay(patch: Patch) -> None:
    patch.setattr(Residents, "lose_all", lambda _: None)


@mutant(6, 7)
def work_that_no_device_is_left_for_waits(patch: Patch) -> None:
    patch.setattr(JobRecord, "needs_device", False)
