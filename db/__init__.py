"""The history: every run, real or simulated, in one database that SQL and typed queries can ask.

A run has proofs, a proof has partitions, a partition has stages. Times are UTC, or seconds since the run's
start where a name ends in `_s` (simulated seconds for a simulated run); sizes are integers in bytes.
"""

from db.errors import HistoryError, NoHistory
from db.history import History, open_history
from db.ids import new_id
from db.log_models import CacheEvent, Decision, MemorySample, PolicyEvent
from db.models import (
    Machine,
    Partition,
    Proof,
    Run,
    RunState,
    Settings,
    Source,
    Stage,
    StageName,
    State,
)
from db.queries import (
    PartitionDetail,
    ProofDetail,
    RunDetail,
    RunSummary,
    StageObservation,
    StageSeconds,
    find_run,
    list_runs,
    memory_samples,
    policy_events,
    show_run,
    stage_seconds,
    waits,
)
from db.record import Record
from db.unfinished import Unfinished, unfinished_proofs
from db.writer import HistoryWriter

__all__ = [
    "CacheEvent",
    "Decision",
    "History",
    "HistoryError",
    "HistoryWriter",
    "Machine",
    "MemorySample",
    "NoHistory",
    "Partition",
    "PartitionDetail",
    "PolicyEvent",
    "Proof",
    "ProofDetail",
    "Record",
    "Run",
    "RunDetail",
    "RunState",
    "RunSummary",
    "Settings",
    "Source",
    "Stage",
    "StageName",
    "StageObservation",
    "StageSeconds",
    "State",
    "Unfinished",
    "find_run",
    "list_runs",
    "memory_samples",
    "new_id",
    "open_history",
    "policy_events",
    "show_run",
    "stage_seconds",
    "unfinished_proofs",
    "waits",
]
