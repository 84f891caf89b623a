"""What a flow run goes on with: the run that it resumes, or what it has begun itself before."""

import asyncio
from uuid import UUID

from prefect import get_client
from prefect.runtime import flow_run

from flows.parameters.batch import BatchParameters
from flows.parameters.resume import taken_up
from flows.summary import begun


async def taken_up_here(parameters: BatchParameters) -> BatchParameters:
    """As `taken_up`, in the flow run of the call, which is then named after what it proves.

    One that runs again, after Retry or after it was suspended, takes up what it has begun before. How often
    it has run, Prefect does not count where it was suspended. One that this process has just made has begun
    nothing, so it is not looked for.
    """
    if parameters.resume is None and begun.get() is not None:
        return parameters
    found = await asyncio.to_thread(taken_up, parameters, flow_run.id)
    if found.resume is not None and flow_run.id is not None:
        async with get_client() as client:
            await client.set_flow_run_name(UUID(flow_run.id), found.title)
    return found
