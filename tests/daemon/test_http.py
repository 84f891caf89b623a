"""Status over HTTP, and who may have it."""

import asyncio
import json
import re
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from daemon.errors import DaemonError, NotAllowed, Unavailable
from engine.metrics import Metrics, prometheus_text
from tests.daemon.authority import Authority, version
from tests.daemon.conftest import INPUT, Daemon

ALERTS = Path(__file__).parents[2] / "deploy" / "alerts.yml"

TOKEN = "a token of more than sixteen characters"


def get(url: str, context: ssl.SSLContext | None = None, **headers: str) -> tuple[int, str]:
    try:
        ask = urllib.request.Request(url, headers=headers)
        with urllib.request.urlopen(ask, timeout=30, context=context) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_status_is_json_metrics_are_prometheus_s_and_the_page_needs_nothing_else(daemon: Daemon) -> None:
    daemon.ask(lambda client: client.prove("multiplier", inputs=INPUT))
    code, text = get(f"{daemon.status}/status")
    status = json.loads(text)
    assert code == 200
    assert status["budget_bytes"] == 256 << 20
    assert status["done"] >= 1
    assert all(isinstance(entry["size_bytes"], int) for entry in status["entries"])
    families = {family.name for family in text_string_to_metric_families(get(f"{daemon.status}/metrics")[1])}
    assert {"cuzk_jobs", "cuzk_budget_bytes", "cuzk_proofs"} <= families
    assert get(f"{daemon.status}/healthz") == (200, "ok\n")
    page = get(f"{daemon.status}/")[1]
    assert '<canvas id="memory">' in page
    assert "http" not in page.replace("cuzk daemon", "")  # it loads nothing from elsewhere
    assert get(f"{daemon.status}/nothing")[0] == 404


def test_others_come_in_by_tls_and_the_token_alone(new_daemon: Callable[..., Daemon], tmp_path: Path) -> None:
    authority, token, wrong = Authority(tmp_path), tmp_path / "token", tmp_path / "wrong"
    for path, text in ((token, TOKEN), (wrong, TOKEN + "?")):
        path.write_text(text)
        path.chmod(0o600)
    cert, key = authority.issue("server")
    daemon = new_daemon(f'tls_cert = "{cert}"\ntls_key = "{key}"\ntoken_file = "{token}"')
    daemon.start("--listen", "0.0.0.0:0", "--status-listen", "0.0.0.0:0")
    address = daemon.address.replace("0.0.0.0", "localhost")
    assert address.startswith("https://")
    assert asyncio.run(version(address, ca=authority.ca, token_file=token)).protocol == 1
    for refused, how in (
        (NotAllowed, {"ca": authority.ca}),
        (NotAllowed, {"ca": authority.ca, "token_file": wrong}),
        (Unavailable, {"token_file": token}),  # whose certificate nobody vouches for
    ):
        with pytest.raises(refused):
            asyncio.run(version(address, **how))
    url = daemon.status.replace("0.0.0.0", "localhost")
    for where, how, said in (
        (address.replace("https", "http"), {"token_file": token}, "it speaks TLS: use https://"),
        (address, {"token_file": token}, "its certificate is of no authority that this machine knows"),
        (
            address.replace("localhost", "127.0.0.1"),
            {"token_file": token, "ca": authority.ca},
            "its certificate is not for '127.0.0.1'",
        ),
        (url, {"token_file": token, "ca": authority.ca}, "it is a server of HTTP, no daemon's"),
    ):
        with pytest.raises(Unavailable, match=said):
            asyncio.run(version(where, **how))
    trusting = ssl.create_default_context(cafile=str(authority.ca))
    assert get(f"{url}/status", trusting)[0] == 401
    assert get(f"{url}/status", trusting, Authorization=f"Bearer {TOKEN}")[0] == 200
    assert TOKEN not in daemon.log.read_text()


def test_others_come_in_by_a_certificate_of_the_authority_alone(
    new_daemon: Callable[..., Daemon], tmp_path: Path
) -> None:
    authority = Authority(tmp_path)
    cert, key = authority.issue("server")
    mine, my_key = authority.issue("client")
    daemon = new_daemon(f'tls_cert = "{cert}"\ntls_key = "{key}"\nclient_ca = "{authority.ca}"')
    daemon.start("--listen", "0.0.0.0:0", "--status-listen", "")
    assert daemon.status == ""
    address = daemon.address.replace("0.0.0.0", "localhost")
    assert asyncio.run(version(address, ca=authority.ca, cert=mine, key=my_key)).protocol == 1
    with pytest.raises(DaemonError, match="certificate of this client: give --cert and --key"):
        asyncio.run(version(address, ca=authority.ca))


def test_whatever_alerts_ask_for_is_there_before_anything_has_happened(daemon: Daemon) -> None:
    """A counter that appears with its first failure has no increase, and tells nobody of it."""
    rules = yaml.safe_load(ALERTS.read_text())["groups"][0]["rules"]
    asked = {
        (name, label, value)
        for rule in rules
        for name, label, value in re.findall(r'(cuzk_\w+)(?:\{(\w+)="(\w+)"\})?', rule["expr"])
    }
    assert len(asked) == 8
    told, fresh = get(f"{daemon.status}/metrics")[1], prometheus_text(Metrics(), [])
    for name, label, value in asked:
        text = fresh if name.endswith("_total") else told
        samples = [each for family in text_string_to_metric_families(text) for each in family.samples]
        found = [each for each in samples if each.name == name and each.labels.get(label, "") == value]
        assert found, f"{name} with {label}={value}"
