"""The flow `history_prune`: the history does not grow for ever."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

from prefect import flow, get_run_logger
from pydantic import BaseModel, Field

from config import format_size, load_config
from db import open_history, prune, vacuum

MOST_DAYS = 36_500


class PruneParameters(BaseModel):
    """The form in Prefect's UI."""

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
async def history_prune(parameters: PruneParameters) -> int:
    """Delete the runs that began before then and are over; returns how many those were."""
    told = get_run_logger().info
    config = load_config(parameters.config, get_run_logger().warning)
    before = datetime.now(UTC) - timedelta(days=parameters.keep_days)
    with open_history(config.history_url(), spool=config.history_spool()) as history:
        count = await asyncio.to_thread(prune, history, before)
        told("deleted %d runs begun before %s from %s", count, f"{before:%Y-%m-%d}", history.address)
        if parameters.vacuum:
            before_bytes, after_bytes = await asyncio.to_thread(vacuum, history)
            told("it took %s and takes %s now", format_size(before_bytes), format_size(after_bytes))
    return count
