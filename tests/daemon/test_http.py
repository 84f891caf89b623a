"""Status over HTTP, and who may have it."""

import asyncio
import datetime
import json
import re
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from prometheus_client.parser import text_string_to_metric_families

from daemon.client import connect
from daemon.errors import DaemonError, NotAllowed, Unavailable
from daemon.proto.cuzk_py.v1 import circuits_pb2 as pb
from engine.metrics import Metrics, prometheus_text
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


class Authority:
    """Certificates for a server on this machine, and for its clients."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test authority")])
        self.ca = self._written("ca.pem", self._signed(self._name, self._key, True))

    def issue(self, name: str) -> tuple[Path, Path]:
        """Certificate and key."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        secret = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return (
            self._written(f"{name}.pem", self._signed(subject, key, False)),
            self._written(f"{name}.key", secret),
        )

    def _signed(self, subject: x509.Name, key: Any, is_ca: bool) -> bytes:
        now = datetime.datetime.now(datetime.UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(minutes=5))
            .not_valid_after(now + datetime.timedelta(hours=1))
            .add_extension(x509.BasicConstraints(is_ca, None), critical=True)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        return certificate.public_bytes(serialization.Encoding.PEM)

    def _written(self, name: str, content: bytes) -> Path:
        path = self._folder / name
        path.write_bytes(content)
        path.chmod(0o600)
        return path


async def version(address: str, **how: Any) -> pb.GetVersionResponse:
    async with asyncio.timeout(60), connect(address, **how) as client:
        assert client.version is not None
        return client.version


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
    with pytest.raises(Unavailable):
        asyncio.run(version(address.replace("https", "http"), token_file=token))
    trusting = ssl.create_default_context(cafile=str(authority.ca))
    url = daemon.status.replace("0.0.0.0", "localhost")
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
    with pytest.raises(DaemonError):
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
