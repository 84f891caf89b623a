"""What is left of an earlier process of the same run, or of another run."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import pytest
from prefect.client.schemas.objects import FlowRun
from prefect.states import Running

from flows.spread import earlier as module
from flows.spread.courier import forward
from flows.spread.earlier import end_earlier


class Client:
    """A server with two runs and no shares; what is asked for the runs' inputs fails."""

    def __init__(self) -> None:
        self.ended: list[UUID] = []
        self.closed: list[UUID] = []

    async def read_flow_run(self, run_id: UUID) -> FlowRun:
        return FlowRun(id=run_id, flow_id=uuid4(), state=Running())

    async def read_flow_runs(self, flow_run_filter: object) -> list[FlowRun]:  # noqa: ARG002
        return []

    async def set_flow_run_state(self, run_id: UUID, state: object, force: bool) -> None:  # noqa: ARG002
        self.ended.append(run_id)

    async def close_open_tasks(self, _client: object, runs: Any) -> None:
        self.closed += runs.id.any_


@pytest.mark.parametrize("retried", [False, True])
def test_a_run_that_is_retried_does_not_end_itself(retried: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    client, own, other = Client(), uuid4(), uuid4()
    monkeypatch.setenv("PREFECT__FLOW_RUN_ID", str(own))
    monkeypatch.setattr(module, "close_open_tasks", client.close_open_tasks)
    asyncio.run(end_earlier(client, own if retried else other))  # type: ignore[arg-type]  # all that is asked
    assert client.ended == client.closed == ([] if retried else [other])


def test_what_a_run_has_received_itself_stays_with_it() -> None:
    run = uuid4()
    asyncio.run(forward(Client(), run, run))  # type: ignore[arg-type]  # nothing is asked
