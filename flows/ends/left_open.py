"""Whether runs that have crashed left tasks open on the server, and then their end. Light to import.

Their processes can tell nobody; a server with its automation can end a run, but not a task. So whatever of
ours starts looks: `cuzk serve` again and again, a batch, `cuzk deploy` and `cuzk ui` once.
"""

import asyncio
import json
import urllib.request
from datetime import UTC, datetime, timedelta

from flows.deployments.file import TAG
from flows.server.chosen import Server
from flows.server.local import Say

ENDED_FOR = timedelta(seconds=30)
"""What a task has told before its process died may be on its way for so long, see `flows.server.local`."""

CUT_OFF = ["CRASHED", "CANCELLED"]
OPEN = ["RUNNING", "PENDING", "SCHEDULED", "PAUSED", "CANCELLING"]


def close_left_open(server: Server, say: Say, ended_for: timedelta = ENDED_FOR) -> None:
    """Close them if there are any, of runs that ended so long ago; Prefect is loaded for it only then."""
    if not count_left_open(server.api_url, ended_for):
        return
    from httpx import HTTPError
    from prefect.exceptions import PrefectHTTPStatusError
    from prefect.settings import PREFECT_API_URL, temporary_settings

    from flows.ends.ended_runs import close_once

    try:
        with temporary_settings({PREFECT_API_URL: server.api_url}):
            asyncio.run(close_once(say, ended_for))
    except (HTTPError, PrefectHTTPStatusError) as error:
        say(f"tasks of runs that have crashed may still look alive: {error}")


def count_left_open(api_url: str, ended_for: timedelta) -> int:
    """How many; 0 where the server does not tell, as one that asks for a password."""
    question = {
        "flow_runs": {
            "state": {"type": {"any_": CUT_OFF}},
            "end_time": {"before_": (datetime.now(UTC) - ended_for).isoformat()},
            "tags": {"all_": [TAG]},
        },
        "task_runs": {"state": {"type": {"any_": OPEN}}},
    }
    request = urllib.request.Request(
        f"{api_url.rstrip('/')}/task_runs/count",
        json.dumps(question).encode(),
        {"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return int(json.load(answer))
    except (OSError, ValueError, TypeError):
        return 0
