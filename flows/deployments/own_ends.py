"""Prefect's worker leaves alone what a run has said itself of its end.

It comes to say how a run has ended when its hooks have run, seconds after the end. By then the run has told
how many proofs there are and how to go on, and who has seen that may have pressed Retry: what runs now would
be taken for what has ended.
"""

from typing import Any, Self

from prefect.client.orchestration import PrefectClient
from prefect.client.schemas.objects import FlowRun
from prefect.runner._flow_run_executor import FlowRunExecutorContext
from prefect.runner._state_proposer import StateProposer
from prefect.workers import process
from typing_extensions import override


async def has_ended_since(client: PrefectClient, flow_run: FlowRun) -> bool:
    """Whether a final state has come after the one that the run had when it was read."""
    since = None if flow_run.state is None else flow_run.state.timestamp
    states = await client.read_flow_run_states(flow_run.id)
    return any(state.is_final() and (since is None or state.timestamp > since) for state in states)


class OwnEnds(StateProposer):
    """Says of a run that it was cancelled only where the run has not said so."""

    @override
    async def propose_cancelled(self, flow_run: FlowRun, state_updates: dict[str, Any] | None = None) -> bool:
        state = flow_run.state
        if (state is not None and state.is_final()) or await has_ended_since(self._client, flow_run):
            return True
        return await super().propose_cancelled(flow_run, state_updates)


class HostContext(FlowRunExecutorContext):
    """What a worker runs a run with, and cancels it."""

    @override
    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self._cancellation_manager._state_proposer = OwnEnds(client=self.client)
        return self


def respect_own_ends() -> None:
    """Have workers of this process do so; Prefect has no setting for it."""
    process.FlowRunExecutorContext = HostContext  # type: ignore[attr-defined]
