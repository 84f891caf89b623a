"""Other hosts, each known by its queue of the work pool: asked for shares of a batch, and looked after."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from uuid import UUID

from prefect import State
from prefect.client.orchestration import PrefectClient
from prefect.client.schemas.objects import StateType
from prefect.deployments import arun_deployment
from prefect.exceptions import ObjectNotFound
from prefect.states import Cancelled

from flows.deployments.file import TAG
from flows.spread.known import DEPLOYMENT, not_deployed, refuse_unknown
from flows.spread.numbers import as_text
from flows.spread.share import ShareParameters

BEGINS_WITHIN_S = 120.0
"""A host looks for runs every 2 s, but may have its fill of other runs."""


@dataclass
class Share:
    """What a host is to prove, and what is left of it: numbers of partitions. `run_id`: its flow run."""

    host: str
    run_id: UUID
    left: set[int]
    asked_s: float = field(default_factory=time.monotonic)


async def check_hosts(client: PrefectClient, hosts: Iterable[str]) -> None:
    """Raises ConfigError for a host that has never served, and where `cuzk deploy` has not been."""
    try:
        pool = (await client.read_deployment_by_name(DEPLOYMENT)).work_pool_name
    except ObjectNotFound as error:
        raise not_deployed() from error
    refuse_unknown(hosts, [queue.name for queue in await client.read_work_queues(work_pool_name=pool)])


async def ask(parameters: ShareParameters, numbers: list[int]) -> Share:
    """Have the host prove these partitions, in a flow run that is shown as part of the current one."""
    given = parameters.model_copy(update={"partitions": as_text(numbers)})
    run = await arun_deployment(
        DEPLOYMENT,
        parameters={"parameters": given.model_dump(mode="json", exclude_defaults=True)},
        timeout=0,
        work_queue_name=parameters.host,
        tags=[TAG],
    )
    return Share(parameters.host, run.id, set(numbers))


async def end_of(client: PrefectClient, share: Share) -> State | None:
    """How the share's run ended; None while it goes on. One that does not begin in time is cancelled."""
    state = (await client.read_flow_run(share.run_id)).state
    if state is None or state.is_final():
        return state
    if state.type == StateType.SCHEDULED and time.monotonic() - share.asked_s > BEGINS_WITHIN_S:
        why = f"it did not begin within {BEGINS_WITHIN_S:g} s: is `cuzk serve --queue {share.host}` running?"
        late: State[None] = Cancelled(message=why)
        await client.set_flow_run_state(share.run_id, late)
        return late
    return None
