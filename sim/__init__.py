"""The same policy on a modelled machine: what a batch would do, without doing it.

Time is simulated and never the wall clock's; the same inputs and seed give the same run, byte for byte.
"""

from sim.answers import Answers
from sim.circuits import SimCircuit, bundled_circuits
from sim.errors import SimError
from sim.faults import Faults
from sim.hardware import Host, Prices
from sim.host_runs import HostRun
from sim.hosts import ModelledHost, modelled_hosts
from sim.kinds import BUDGET, fixed_at_once, policy_of
from sim.log import LogEntry, RunLog
from sim.machine import SimulatedMachine, Watch
from sim.observe import observed_times, with_history
from sim.profile import MachineProfile, ObservedTimes, bundled_profiles, load_profile
from sim.record import record
from sim.replay import Recorded, RecordedRun, first_difference, read_recorded, replay, replay_run
from sim.rows import rows_of
from sim.run import Progress, SimulatedRun, simulate
from sim.scenario import Played, Scenario, play
from sim.workload import Batch, ClosedLoop, OpenLoop, Workload
from sim.workload_file import read_workload_table, workload_of

__all__ = [
    "BUDGET",
    "Answers",
    "Batch",
    "ClosedLoop",
    "Faults",
    "Host",
    "HostRun",
    "LogEntry",
    "MachineProfile",
    "ModelledHost",
    "ObservedTimes",
    "OpenLoop",
    "Played",
    "Prices",
    "Progress",
    "Recorded",
    "RecordedRun",
    "RunLog",
    "Scenario",
    "SimCircuit",
    "SimError",
    "SimulatedMachine",
    "SimulatedRun",
    "Watch",
    "Workload",
    "bundled_circuits",
    "bundled_profiles",
    "first_difference",
    "fixed_at_once",
    "load_profile",
    "modelled_hosts",
    "observed_times",
    "play",
    "policy_of",
    "read_recorded",
    "read_workload_table",
    "record",
    "replay",
    "replay_run",
    "rows_of",
    "simulate",
    "with_history",
    "workload_of",
]
