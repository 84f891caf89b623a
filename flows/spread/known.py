"""Whether the hosts that a batch names serve. Light to import: no Prefect."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterable
from difflib import get_close_matches
from http import HTTPStatus
from typing import Any

from config import ConfigError

DEPLOYMENT = "prove_partitions/share"


def refuse_where_none_serves(hosts: Iterable[str], api_url: str | None) -> None:
    """Raise ConfigError for a host that has never served, as far as a server tells that without Prefect's
    client; one that asks for a password, or is away, is left to the client. api_url: None: no server runs.
    """
    if api_url is None:
        raise ConfigError(
            "hosts: no Prefect server runs here, so no host serves; start `cuzk ui`, and `cuzk serve` on "
            "each host, or set PREFECT_API_URL to the server that they use"
        )
    try:
        pool = _asked(f"{api_url.rstrip('/')}/deployments/name/{DEPLOYMENT}")["work_pool_name"]
        found = _asked(f"{api_url.rstrip('/')}/work_pools/{pool}/queues/filter", {})
        known = [str(each["name"]) for each in found]
    except urllib.error.HTTPError as error:
        if error.code == HTTPStatus.NOT_FOUND:
            raise not_deployed() from error
        return
    except (OSError, ValueError, KeyError, TypeError):
        return
    refuse_unknown(hosts, known)


def not_deployed() -> ConfigError:
    """`cuzk deploy` has not been there."""
    return ConfigError(f"hosts: the Prefect server has no deployment {DEPLOYMENT}; run `cuzk deploy`")


def refuse_unknown(hosts: Iterable[str], known: list[str]) -> None:
    """Raise ConfigError for a host whose queue is not among the known."""
    for host in hosts:
        if host not in known:
            near = get_close_matches(host, known, 1)
            meant = f"did you mean {near[0]!r}?" if near else f"expected some of {', '.join(sorted(known))}"
            raise ConfigError(f"hosts: no host serves the queue {host!r}; {meant}")


def _asked(url: str, body: object = None) -> Any:
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, content, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)
