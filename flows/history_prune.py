"""The flow `history_prune`: the history does not grow for ever."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

from prefect import State, flow, get_run_logger
from prefect.states import Completed, Failed
from pydantic import BaseModel, ConfigDict, Field

from config import format_size, load_config
from config.refusals import is_refusal
from db import open_history, prune, vacuum
from flows.parameters.form import without_null

MOST_DAYS = 36_500


class PruneParameters(BaseModel):
    """Which runs of the history are deleted, and what becomes of their space."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=without_null)

    keep_days: int = Field(
        365,
        title="Days to keep",
        description="Runs that began longer ago and are over are deleted.",
        ge=1,
        le=MOST_DAYS,
    )
    vacuum: bool = Field(
        False,
        title="Give the space back",
        description="Write the database anew without them. It needs as much space again, and writers wait.",
    )
    config: Path | None = Field(
        None,
        title="Configuration file",
        description="It names the history. Empty: $CUZK_CONFIG, else cuzk.toml in the working folder.",
    )


@flow(name="history_prune", flow_run_name="keep {parameters.keep_days} days", persist_result=False)
async def history_prune(parameters: PruneParameters) -> State[int]:
    """Delete the runs that began before then and are over; returns how many those were."""
    try:
        return await _prune(parameters)
    except Exception as error:  # given to Prefect as a state, since it writes to disk what a flow raises
        get_run_logger().error("%s", error, exc_info=not is_refusal(error))
        return Failed(message=str(error), data=error)


async def _prune(parameters: PruneParameters) -> State[int]:
    told = get_run_logger().info
    config = load_config(parameters.config, get_run_logger().warning)
    before = datetime.now(UTC) - timedelta(days=parameters.keep_days)
    with open_history(config.history_url(), spool=config.history_spool()) as history:
        count = await asyncio.to_thread(prune, history, before)
        runs = "1 run" if count == 1 else f"{count} runs"
        message = f"deleted {runs} begun before {before:%Y-%m-%d}"
        told("%s from %s", message, history.address)
        if parameters.vacuum:
            before_bytes, after_bytes = await asyncio.to_thread(vacuum, history)
            space = f"it took {format_size(before_bytes)} and takes {format_size(after_bytes)} now"
            told("%s", space)
            message += f"; {space}"
    return Completed(message=message, data=count)
