"""The memory budget and the scheduler as a pure state machine: events in, decisions out, time as an argument.

No clock, thread, lock, file or random number; the same events always give the same decisions.

A public name's module is imported when the name is first used: a single proof needs `policy.model` alone, and
all of them take ten times as long to load.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from policy.budget_policy import BudgetPolicy
    from policy.capacity import Capacity, capacities
    from policy.decisions import (
        Admit,
        Complete,
        Decision,
        Evict,
        EvictFromDevice,
        Fail,
        Load,
        Prove,
        Reject,
        Stop,
        Synthesize,
        Upload,
        WakeAt,
    )
    from policy.errors import CodecError, PolicyError, ProtocolError
    from policy.events import (
        Cancel,
        DeviceLost,
        DeviceOutOfMemory,
        Displaced,
        Event,
        Failed,
        Loaded,
        LoadFailed,
        Measured,
        Proved,
        QuotientDone,
        Resized,
        Shared,
        Submit,
        Synthesized,
        Tick,
        Unload,
        Verified,
    )
    from policy.fixed_concurrency import FixedConcurrency
    from policy.model import Circuit, Device, Entry, Job, Limits, PartitionId, Priority
    from policy.protocol import EntryUse, Policy, WaitCause, WantedShare
    from policy.states import TERMINAL, TRANSITIONS, PartitionState

MODULES = (
    "model",
    "errors",
    "events",
    "decisions",
    "states",
    "protocol",
    "capacity",
    "budget_policy",
    "fixed_concurrency",
)

__all__ = [
    "TERMINAL",
    "TRANSITIONS",
    "Admit",
    "BudgetPolicy",
    "Cancel",
    "Capacity",
    "Circuit",
    "CodecError",
    "Complete",
    "Decision",
    "Device",
    "DeviceLost",
    "DeviceOutOfMemory",
    "Displaced",
    "Entry",
    "EntryUse",
    "Event",
    "Evict",
    "EvictFromDevice",
    "Fail",
    "Failed",
    "FixedConcurrency",
    "Job",
    "Limits",
    "Load",
    "LoadFailed",
    "Loaded",
    "Measured",
    "PartitionId",
    "PartitionState",
    "Policy",
    "PolicyError",
    "Priority",
    "ProtocolError",
    "Prove",
    "Proved",
    "QuotientDone",
    "Reject",
    "Resized",
    "Shared",
    "Stop",
    "Submit",
    "Synthesize",
    "Synthesized",
    "Tick",
    "Unload",
    "Upload",
    "Verified",
    "WaitCause",
    "WakeAt",
    "WantedShare",
    "capacities",
]


def __getattr__(name: str) -> object:
    for module in MODULES if name in __all__ else ():  # those first that import no other
        found = vars(import_module(f"policy.{module}"))
        if name in found:
            return found[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
