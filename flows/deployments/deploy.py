"""`prefect.yaml` applied to a server: the pool, the deployments, the automations. Applied twice, it stays."""

from collections.abc import Callable
from http import HTTPStatus
from importlib import import_module

from httpx import HTTPError
from prefect import Flow
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.actions import DeploymentScheduleCreate, DeploymentUpdate, WorkPoolCreate
from prefect.client.schemas.objects import ConcurrencyLimitStrategy, ConcurrencyOptions
from prefect.client.schemas.responses import DeploymentResponse
from prefect.client.schemas.schedules import CronSchedule
from prefect.exceptions import ObjectNotFound, ParameterTypeError, PrefectHTTPStatusError
from prefect.utilities.callables import parameter_schema
from prefect.utilities.urls import url_for
from prefect.workers.process import ProcessWorker
from pydantic import ValidationError

from config import ConfigError
from flows.deployments.automations import alerts, apply_automation, dead_runs_crash, first_word
from flows.deployments.file import ConcurrencyEntry, DeploymentEntry
from flows.ends.ended_runs import close_once
from flows.errors import FlowError

Say = Callable[[str], None]


async def deploy(entries: list[DeploymentEntry], say: Say, notify: str | None = None) -> None:
    """Make the server have these deployments, and tell what became of each; raises FlowError.

    What has been edited in the UI stays until its entry is another. notify: the webhook's address that is
    told of failed runs; None: as it is.
    """
    flows = {entry.name: load_flow(entry) for entry in entries}
    for entry in entries:
        _schedules(entry)
    try:
        async with get_client() as client:
            for name in sorted({entry.work_pool.name for entry in entries}):
                say(f"work pool {name}: {await _apply_pool(client, name)}")
            for entry in entries:
                what = await _apply(client, entry, flows[entry.name])
                say(f"deployment {flows[entry.name].name}/{entry.name}: {what}")
            told = [] if notify is None else await alerts(client, notify)
            for automation in [dead_runs_crash(), *told]:
                what = await apply_automation(client, automation)
                whom = ", and tells the address given" if automation in told else ""
                say(f"automation {automation.name}: {what}{whom}")
        if notify is not None:
            say(await first_word(notify))
        await close_once(say)
    except (HTTPError, PrefectHTTPStatusError) as error:
        raise FlowError(f"the Prefect server refuses or does not answer: {error}") from error


def load_flow(entry: DeploymentEntry) -> "Flow[..., object]":
    """The flow of the entry's module; raises FlowError where there is none, or its parameters do not fit."""
    module, _, name = entry.entrypoint.rpartition(".")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise FlowError(
            f"deployment {entry.name}: no flow {entry.entrypoint} can be imported ({error}); name it as "
            "module.flow"
        ) from error
    if not isinstance(found, Flow):
        raise FlowError(f"deployment {entry.name}: {entry.entrypoint} is no flow; name it as module.flow")
    if not entry.parameters and not entry.schedules:
        return found  # whoever starts it gives them
    try:
        found.validate_parameters(entry.parameters)
    except (ParameterTypeError, ValidationError, ConfigError) as error:
        why = " ".join(str(error).split())
        raise FlowError(f"deployment {entry.name}: parameters: {why}") from error
    return found


async def _apply_pool(client: PrefectClient, name: str) -> str:
    try:
        await client.read_work_pool(name)
    except ObjectNotFound:
        template = ProcessWorker.get_default_base_job_template()
        await client.create_work_pool(
            WorkPoolCreate(name=name, type=ProcessWorker.type, base_job_template=template)
        )
        return "made"
    return "there"


async def _apply(client: PrefectClient, entry: DeploymentEntry, flow: "Flow[..., object]") -> str:
    existing = await _read(client, f"{flow.name}/{entry.name}")
    if existing is None or existing.version != entry.digest:
        await _create(client, entry, flow)
        return "made" if existing is None else "made anew, since prefect.yaml has changed"
    schema = parameter_schema(flow).model_dump()
    if (existing.parameter_openapi_schema, existing.entrypoint) == (schema, entry.entrypoint):
        return "there"
    update = DeploymentUpdate(parameter_openapi_schema=schema, entrypoint=entry.entrypoint)
    try:
        await client.update_deployment(existing.id, update)
    except PrefectHTTPStatusError as error:
        raise FlowError(f"deployment {flow.name}/{entry.name}: {_no_fit(existing, error)}") from error
    return "there, with the form of this version"


def _no_fit(existing: DeploymentResponse, error: PrefectHTTPStatusError) -> str:
    """Why the server does not take the form of this version. Raises the error where it is another."""
    if error.response.status_code != HTTPStatus.CONFLICT:
        raise error
    try:
        why = str(error.response.json()["detail"])
    except (ValueError, KeyError, TypeError):
        why = str(error)
    page = url_for("deployment", obj_id=existing.id) or "the UI"
    return (
        f"what was edited in the UI does not fit the settings any more: {' '.join(why.split())}; edit it in "
        f"{page}, or bring back in the settings what it names, and deploy again"
    )


async def _read(client: PrefectClient, name: str) -> DeploymentResponse | None:
    try:
        return await client.read_deployment_by_name(name)
    except ObjectNotFound:
        return None


async def _create(client: PrefectClient, entry: DeploymentEntry, flow: "Flow[..., object]") -> None:
    """Make it, or all of it anew."""
    limit = entry.concurrency_limit
    await client.create_deployment(
        await client.create_flow(flow),
        entry.name,
        version=entry.digest,
        entrypoint=entry.entrypoint,
        description=entry.description,
        tags=entry.tags,
        work_pool_name=entry.work_pool.name,
        work_queue_name=entry.work_pool.work_queue_name,
        schedules=_schedules(entry),
        concurrency_limit=limit.limit if limit else None,
        concurrency_options=_options(limit) if limit else None,
        parameters=entry.parameters,
        parameter_openapi_schema=parameter_schema(flow).model_dump(),
        enforce_parameter_schema=True,
    )


def _schedules(entry: DeploymentEntry) -> list[DeploymentScheduleCreate]:
    """Raises FlowError for a time that is none."""
    try:
        return [
            DeploymentScheduleCreate(
                schedule=CronSchedule(cron=each.cron, timezone=each.timezone), active=each.active
            )
            for each in entry.schedules
        ]
    except ValidationError as error:
        raise FlowError(f"deployment {entry.name}: schedules: {error.errors()[0]['msg']}") from error


def _options(limit: ConcurrencyEntry) -> ConcurrencyOptions:
    return ConcurrencyOptions(collision_strategy=ConcurrencyLimitStrategy(limit.collision_strategy))
