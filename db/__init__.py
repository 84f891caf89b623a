"""The history: every run, real or simulated, in one database that SQL and typed queries can ask.

A run has proofs, a proof has partitions, a partition has stages. Times are UTC, or seconds since the run's
start where a name ends in `_s` (simulated seconds for a simulated run); sizes are integers in bytes.

What needs NumPy is loaded when it is first asked for: opening and writing a history do not.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from db.ask import Answer, ask, frame
from db.errors import HistoryError, JobThere, NoHistory, time_may_heal
from db.exported import read_lines, write_lines
from db.failures import Failure, FailureRate, failure_rates, failures
from db.filters import Filter
from db.history import History, open_history
from db.ids import new_id
from db.job_models import JobRow
from db.log_models import CacheEvent, Decision, DeviceSample, MemorySample, PolicyEvent, PoolSample
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
from db.observations import StageObservation, stage_seconds
from db.record import Record
from db.run_detail import PartitionDetail, ProofDetail, RunDetail, StageSeconds, show_run
from db.run_series import (
    Span,
    device_samples,
    memory_samples,
    policy_events,
    pool_samples,
    stage_spans,
    waits,
)
from db.runs import RunSummary, circuits_proved, find_run, list_runs
from db.spooled import spooled_run
from db.transfer import Imported, rows_of_runs, write_rows
from db.unfinished import Unfinished, interrupted_outputs, unfinished_proofs
from db.upkeep import prune, size_bytes, vacuum
from db.wait_totals import WaitTotal, wait_totals
from db.writer import HistoryWriter

if TYPE_CHECKING:
    from db.comparison import Change, TrendPoint, compare_runs, trend
    from db.jobs import JobStore
    from db.statistics import StageStatistics, stage_statistics

__all__ = [
    "Answer",
    "CacheEvent",
    "Change",
    "Decision",
    "DeviceSample",
    "Failure",
    "FailureRate",
    "Filter",
    "History",
    "HistoryError",
    "HistoryWriter",
    "Imported",
    "JobRow",
    "JobStore",
    "JobThere",
    "Machine",
    "MemorySample",
    "NoHistory",
    "Partition",
    "PartitionDetail",
    "PolicyEvent",
    "PoolSample",
    "Proof",
    "ProofDetail",
    "Record",
    "Run",
    "RunDetail",
    "RunState",
    "RunSummary",
    "Settings",
    "Source",
    "Span",
    "Stage",
    "StageName",
    "StageObservation",
    "StageSeconds",
    "StageStatistics",
    "State",
    "TrendPoint",
    "Unfinished",
    "WaitTotal",
    "ask",
    "circuits_proved",
    "compare_runs",
    "device_samples",
    "failure_rates",
    "failures",
    "find_run",
    "frame",
    "interrupted_outputs",
    "list_runs",
    "memory_samples",
    "new_id",
    "open_history",
    "policy_events",
    "pool_samples",
    "prune",
    "read_lines",
    "rows_of_runs",
    "show_run",
    "size_bytes",
    "spooled_run",
    "stage_seconds",
    "stage_spans",
    "stage_statistics",
    "time_may_heal",
    "trend",
    "unfinished_proofs",
    "vacuum",
    "wait_totals",
    "waits",
    "write_lines",
    "write_rows",
]

_LATER = {
    "JobStore": "jobs",
    "Change": "comparison",
    "TrendPoint": "comparison",
    "compare_runs": "comparison",
    "trend": "comparison",
    "StageStatistics": "statistics",
    "stage_statistics": "statistics",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(f"db.{_LATER[name]}"), name)
    raise AttributeError(f"module 'db' has no attribute {name!r}")
