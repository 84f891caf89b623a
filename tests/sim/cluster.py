"""Scenarios on one or more hosts of the small test machine."""

from typing import Any

from sim import Batch, ModelledHost
from sim.arrivals import Arrivals, Times
from sim.circuits import SimCircuit
from sim.faults import Faults
from sim.scenario import Scenario
from sim.workload import ClosedLoop, OpenLoop
from tests.sim.model import CIRCUIT, limits, profile

SIM_CIRCUIT = SimCircuit(CIRCUIT, constraints=1)


def host(name: str = "host", room_for: int = 8, **others: Any) -> ModelledHost:
    """On which a proof takes 1 s to load, 1 s to synthesize, 4 s to prove and 0.5 s to verify."""
    slots, workers = others.pop("slots", 8), others.pop("workers", 8)
    return ModelledHost(name, limits(room_for, slots, workers), profile(**others))


def closed(count: int, concurrency: int, *hosts: ModelledHost, **others: Any) -> Scenario:
    faults = Faults(**others.pop("faults", {}))
    return Scenario(
        ClosedLoop((Batch(CIRCUIT, count, concurrency, constraints=1),)), hosts, faults=faults, **others
    )


def opened(at: Times, duration_s: float, *hosts: ModelledHost, **others: Any) -> Scenario:
    faults = Faults(**others.pop("faults", {}))
    deadline_s, policy = others.pop("deadline_s", None), others.pop("policy", "budget")
    arrivals = Arrivals(SIM_CIRCUIT, at, deadline_s=deadline_s, **others)
    return Scenario(OpenLoop((arrivals,), duration_s), hosts, policy, faults)
