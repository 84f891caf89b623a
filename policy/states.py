"""The life of a partition, as a table: what may happen in which state, and what state follows.

`TRANSITIONS[state][trigger]` is the next state. A trigger is the class of an event that the driver sends or
of a decision that the policy takes. Whatever is not in the table raises `ProtocolError`.
"""

from enum import Enum

from policy.decisions import Admit, Load, Prove, Stop, Synthesize
from policy.events import (
    Cancel,
    DeviceOutOfMemory,
    Displaced,
    Failed,
    Loaded,
    Proved,
    QuotientDone,
    Synthesized,
    Verified,
)

Trigger = type


class PartitionState(Enum):
    """What is held: working set and entries from LOADING to QUOTIENT_DONE, a slot in SYNTHESIZING, a worker
    in PROVING and QUOTIENT_DONE; in STOPPING what was held at the stop, until the driver reports it free.
    """

    WAITING = "waiting"
    LOADING = "loading"
    READY = "ready"
    SYNTHESIZING = "synthesizing"
    SYNTHESIZED = "synthesized"
    PROVING = "proving"
    QUOTIENT_DONE = "quotient done"
    PROVED = "proved"
    STOPPING = "stopping"
    VERIFIED = "verified"
    FAILED = "failed"
    CANCELLED = "cancelled"

    # Enum's own hash is a Python function; states index the hottest table.
    __hash__ = object.__hash__


# As names of this module, since in Python 3.11 `PartitionState.LOADING` calls a function each time.
WAITING = PartitionState.WAITING
LOADING = PartitionState.LOADING
READY = PartitionState.READY
SYNTHESIZING = PartitionState.SYNTHESIZING
SYNTHESIZED = PartitionState.SYNTHESIZED
PROVING = PartitionState.PROVING
QUOTIENT_DONE = PartitionState.QUOTIENT_DONE
PROVED = PartitionState.PROVED
STOPPING = PartitionState.STOPPING
VERIFIED = PartitionState.VERIFIED
FAILED = PartitionState.FAILED
CANCELLED = PartitionState.CANCELLED

# Cancel stands for the end of the whole job, be it by Cancel, by another partition's failure or by a resize.
TRANSITIONS: dict[PartitionState, dict[Trigger, PartitionState]] = {
    WAITING: {Admit: READY, Load: LOADING, Failed: FAILED, Cancel: CANCELLED},
    LOADING: {Loaded: READY, Failed: FAILED, Cancel: CANCELLED},
    READY: {Synthesize: SYNTHESIZING, Failed: FAILED, Cancel: CANCELLED},
    SYNTHESIZING: {Synthesized: SYNTHESIZED, Failed: FAILED, Stop: STOPPING},
    SYNTHESIZED: {Prove: PROVING, Failed: FAILED, Stop: STOPPING},
    PROVING: {
        QuotientDone: QUOTIENT_DONE,
        Proved: PROVED,
        DeviceOutOfMemory: WAITING,
        Displaced: WAITING,
        Failed: FAILED,
        Stop: STOPPING,
    },
    QUOTIENT_DONE: {
        Proved: PROVED,
        DeviceOutOfMemory: WAITING,
        Displaced: WAITING,
        Failed: FAILED,
        Stop: STOPPING,
    },
    PROVED: {Verified: VERIFIED, Failed: FAILED, Stop: STOPPING},
    # Reports that crossed the Stop on their way still give back what they say is free.
    STOPPING: {
        Synthesized: STOPPING,
        QuotientDone: STOPPING,
        Proved: STOPPING,
        DeviceOutOfMemory: CANCELLED,
        Displaced: CANCELLED,
        Verified: CANCELLED,
        Failed: CANCELLED,
    },
    VERIFIED: {},
    FAILED: {},
    CANCELLED: {},
}

TERMINAL = (VERIFIED, FAILED, CANCELLED)
