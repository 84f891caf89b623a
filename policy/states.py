"""The life of a partition, as a table: what may happen in which state, and what state follows.

`TRANSITIONS[state][trigger]` is the next state. A trigger is the class of an event that the driver sends or
of a decision that the policy takes. Whatever is not in the table raises `ProtocolError`.
"""

from enum import Enum

from policy.decisions import Admit, Load, Prove, Stop, Synthesize
from policy.events import (
    Cancel,
    DeviceOutOfMemory,
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


_S = PartitionState

# Cancel stands for the end of the whole job, be it by Cancel, by another partition's failure or by a resize.
TRANSITIONS: dict[PartitionState, dict[Trigger, PartitionState]] = {
    _S.WAITING: {Admit: _S.READY, Load: _S.LOADING, Failed: _S.FAILED, Cancel: _S.CANCELLED},
    _S.LOADING: {Loaded: _S.READY, Failed: _S.FAILED, Cancel: _S.CANCELLED},
    _S.READY: {Synthesize: _S.SYNTHESIZING, Failed: _S.FAILED, Cancel: _S.CANCELLED},
    _S.SYNTHESIZING: {Synthesized: _S.SYNTHESIZED, Failed: _S.FAILED, Stop: _S.STOPPING},
    _S.SYNTHESIZED: {Prove: _S.PROVING, Failed: _S.FAILED, Stop: _S.STOPPING},
    _S.PROVING: {
        QuotientDone: _S.QUOTIENT_DONE,
        Proved: _S.PROVED,
        DeviceOutOfMemory: _S.WAITING,
        Failed: _S.FAILED,
        Stop: _S.STOPPING,
    },
    _S.QUOTIENT_DONE: {
        Proved: _S.PROVED,
        DeviceOutOfMemory: _S.WAITING,
        Failed: _S.FAILED,
        Stop: _S.STOPPING,
    },
    _S.PROVED: {Verified: _S.VERIFIED, Failed: _S.FAILED, Stop: _S.STOPPING},
    # Reports that crossed the Stop on their way still give back what they say is free.
    _S.STOPPING: {
        Synthesized: _S.STOPPING,
        QuotientDone: _S.STOPPING,
        Proved: _S.STOPPING,
        DeviceOutOfMemory: _S.CANCELLED,
        Verified: _S.CANCELLED,
        Failed: _S.CANCELLED,
    },
    _S.VERIFIED: {},
    _S.FAILED: {},
    _S.CANCELLED: {},
}

TERMINAL = (_S.VERIFIED, _S.FAILED, _S.CANCELLED)
