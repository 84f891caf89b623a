"""What a server shows of a flow run: its artifacts, and its tasks by state and name."""

from collections import Counter
from typing import Any

from flows.server.chosen import Server
from tests.flows.support import ask, task_runs

FINAL = {"COMPLETED", "FAILED", "CANCELLED", "CRASHED"}


def artifacts(server: Server, flow_run_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ask(
        server.api_url, "artifacts/filter", artifacts={"flow_run_id": {"any_": [flow_run_id]}}
    )
    return found


def all_final(server: Server, flow_run_id: str) -> bool:
    """Whether the flow run has tasks and each has ended, and what each was is known."""
    states = states_of_tasks(server, flow_run_id)
    return bool(states) and set(states) <= FINAL


def states_of_tasks(server: Server, flow_run_id: str) -> Counter[str]:
    return Counter(run["state_type"] for run in task_runs(server.api_url, flow_run_id))


def names_of_tasks(server: Server, flow_run_id: str) -> list[str]:
    return sorted(run["name"] for run in task_runs(server.api_url, flow_run_id))
