"""What the server does by itself: it closes runs whose process has died, and tells of runs that failed."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from httpx import HTTPStatusError
from prefect.blocks.notifications import CustomWebhookNotificationBlock
from prefect.client.orchestration import PrefectClient
from prefect.client.schemas.objects import StateType
from prefect.events.actions import ActionTypes, ChangeFlowRunState, SendNotification
from prefect.events.schemas.automations import AutomationCore, EventTrigger, Posture
from prefect.events.schemas.events import ResourceSpecification
from prefect.types import SecretDict

from flows.deployments.file import TAG

DEAD_AFTER = timedelta(seconds=90)
"""Three heartbeats, so that a server that is started anew, or a machine that swaps, kills no run."""

OURS = ResourceSpecification({"prefect.resource.role": "tag", "prefect.resource.id": f"prefect.tag.{TAG}"})
RUNS = ResourceSpecification({"prefect.resource.id": "prefect.flow-run.*"})
HEARTBEAT = "prefect.flow-run.heartbeat"
ENDS = {f"prefect.flow-run.{end}" for end in ("Completed", "Failed", "Cancelled", "Crashed")}
FAILURES = {f"prefect.flow-run.{end}" for end in ("Failed", "Crashed", "TimedOut")}
LATE = "prefect.flow-run.Late"
BEGUN = {
    f"prefect.flow-run.{state}" for state in ("Pending", "Running", "AwaitingConcurrencySlot", "Cancelling")
}
LATE_FOR = timedelta(minutes=10)
"""So that a host that is started anew, or a run that waits for another one, is nothing to tell."""

WEBHOOK = "cuzk-alerts"


def dead_runs_crash() -> AutomationCore:
    """A run that has sent heartbeats and sends none any more, nor has ended, is marked as crashed."""
    return AutomationCore(
        name="cuzk: runs that died",
        description="Marks a run as crashed whose process died without a word.",
        trigger=_unless({HEARTBEAT, *ENDS}, after=HEARTBEAT, within=DEAD_AFTER),
        actions=[
            ChangeFlowRunState(
                name=None,
                force=False,
                state=StateType.CRASHED,
                message="no sign of life: its process or machine died",
            )
        ],
    )


async def alerts(client: PrefectClient, url: str) -> list[AutomationCore]:
    """Tell the address of runs that fail, and of those that nothing begins; saves the block that has it."""
    block_id = await _webhook(url).save(WEBHOOK, overwrite=True, client=client)
    return [failures_are_told(block_id), late_runs_are_told(block_id)]


async def first_word(url: str) -> str:
    """Have the address take a word from here, so that a wrong one is seen now and not by a silent night."""
    try:
        await _webhook(url).anotify("Runs that fail, crash or are not begun are told here.", "cuzk deploy")
    except HTTPStatusError as error:  # its own words have the address, which is secret
        why = f"it answered {error.response.status_code}"
    except Exception as error:
        why = str(error) or type(error).__name__
    else:
        return "the alerts' address has taken a first word; see that it has arrived"
    return (
        f"warning: the alerts' address did not take a first word from this host ({why}); see that it is "
        "right, or that the Prefect server can reach it"
    )


def failures_are_told(block_id: UUID) -> AutomationCore:
    """Each run that fails or crashes is told, as the block says."""
    tell: ActionTypes = SendNotification(
        block_document_id=block_id,
        subject="{{ flow_run.name }}: {{ flow_run.state.name }}",
        body="{{ flow_run.state.message }}\n{{ flow_run|ui_url }}",
    )
    return AutomationCore(
        name="cuzk: alert on failure",
        description="Tells of each run that failed or crashed.",
        trigger=_for_each_run(expect=FAILURES, posture=Posture.Reactive, within=timedelta(0)),
        actions=[tell],
    )


def late_runs_are_told(block_id: UUID) -> AutomationCore:
    """A run that is due, and that nothing begins, is told: it neither fails nor crashes."""
    tell: ActionTypes = SendNotification(
        block_document_id=block_id,
        subject="{{ flow_run.name }}: Late",
        body=f"due for {LATE_FOR.seconds // 60} minutes, and no `cuzk serve` has begun it: see that one runs "
        "for its queue, and has not reached its --limit\n{{ flow_run|ui_url }}",
    )
    return AutomationCore(
        name="cuzk: alert on late",
        description="Tells of each run that is due and that nothing begins.",
        trigger=_unless(BEGUN | ENDS, after=LATE, within=LATE_FOR),
        actions=[tell],
    )


def _unless(events: set[str], *, after: str, within: timedelta) -> EventTrigger:
    """When none of the events of one of our runs has come within that time after the other."""
    return _for_each_run(after={after}, expect=events, posture=Posture.Proactive, within=within)


def _for_each_run(**when: Any) -> EventTrigger:
    each: dict[str, Any] = {"match": RUNS, "match_related": OURS, "for_each": {"prefect.resource.id"}}
    return EventTrigger(**each, threshold=1, **when)


async def apply_automation(client: PrefectClient, wanted: AutomationCore) -> str:
    """Make the server have this automation once; "made" or "there"."""
    found = await client.read_automations_by_name(wanted.name)
    if not found:
        await client.create_automation(wanted)
        return "made"
    wanted.enabled = found[0].enabled  # who switched it off in the UI meant it
    await client.update_automation(found[0].id, wanted)
    return "there"


def _webhook(url: str) -> CustomWebhookNotificationBlock:
    """It keeps the address secret: whoever has it can write to the channel."""
    field = "content" if (urlsplit(url).hostname or "").endswith("discord.com") else "text"
    return CustomWebhookNotificationBlock(
        name="cuzk",
        headers=None,
        cookies=None,
        url="{{address}}",
        json_data={field: "{{subject}}\n{{body}}"},
        secrets=SecretDict({"address": url}),
    )
