"""The bundled prefect.yaml, and what is refused of others before a server is asked."""

import asyncio
import re
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from flows.deployments.automations import first_word
from flows.deployments.deployed import apply_file, serve_host
from flows.deployments.file import BUNDLED, read_deployments
from flows.errors import FlowError, ServerError
from tests.flows.support import silent

ENTRY = """
deployments:
  - name: mine
    entrypoint: flows.prove_batch.prove_batch
    work_pool: {name: cuzk}
"""


def test_every_bundled_deployment_has_a_module_s_entrypoint_and_one_run_at_a_time() -> None:
    entries = read_deployments(BUNDLED)
    assert {"nightly-batch", "capacity-study", "history-prune", "share"} == {entry.name for entry in entries}
    for entry in entries:
        assert ":" not in entry.entrypoint
        assert entry.description.endswith(".")
        assert "cuzk" in entry.tags  # by which the automations know its runs
        if entry.name == "share":  # of as many batches as there are; memory is for the host's ledger
            assert entry.concurrency_limit is None
            continue
        assert entry.concurrency_limit is not None
        assert (entry.concurrency_limit.limit, entry.concurrency_limit.collision_strategy) == (1, "ENQUEUE")


def test_an_entry_s_digest_tells_whether_it_has_changed(tmp_path: Path) -> None:
    digests = []
    for text in (ENTRY, ENTRY + "\n", ENTRY + "    tags: [cuzk]\n"):
        (tmp_path / "prefect.yaml").write_text(text)
        digests.append(read_deployments(tmp_path / "prefect.yaml")[0].digest)
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("deployments: [", "is no YAML"),
        ("", "Input should be"),
        ("deployments: []", "at least 1"),
        (
            ENTRY.replace("flows.prove_batch.prove_batch", "flows/prove_batch.py:prove_batch"),
            r"0\.entrypoint",
        ),
        (ENTRY + "    triggers: []\n", r"deployments\.0\.triggers.*prefect deploy"),
        (ENTRY + "    schedules: [{interval: 60}]\n", r"schedules\.0\.cron"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_one_line(text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "prefect.yaml"
    path.write_text(text)
    with pytest.raises(FlowError, match=why) as refusal:
        read_deployments(path)
    assert str(refusal.value).startswith(f"{path}: ")


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FlowError, match="No such file"):
        serve_host(tmp_path / "none.yaml", None, None, silent)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("hooks.slack.com/x", "the http"),
        ("mailto:me@example.org", "the http"),
        ("http://", "the http"),
        ("https://hooks.slack.com/services/…", "the whole http"),
        ("https://hooks.slack.com/services/...", "the whole http"),
    ],
)
def test_an_alert_goes_to_a_webhook_only_and_to_no_example_of_one(address: str, expected: str) -> None:
    with pytest.raises(FlowError, match=f"^--notify {re.escape(address)}: expected {expected}"):
        apply_file(None, address, silent, silent)


def test_a_server_that_is_not_there_is_not_started_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUZK_HOME", str(tmp_path))
    with pytest.raises(ServerError, match=r"no Prefect server runs .*start one by `cuzk ui`"):
        apply_file(None, None, silent, silent)
    assert not list(tmp_path.iterdir())


def test_an_address_that_takes_no_first_word_is_told_without_its_secret() -> None:
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as refuses:
        threading.Thread(target=refuses.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{refuses.server_port}/secret"
        answered = asyncio.run(first_word(url))
        refuses.shutdown()
    unheard = asyncio.run(first_word(url))
    assert "did not take a first word from this host (it answered 501);" in answered
    assert unheard.startswith("warning: the alerts' address did not take a first word from this host (")
    assert "secret" not in answered + unheard


@pytest.mark.parametrize("name", ["a/b", "50%", "<host>"])
def test_a_queue_is_refused_a_name_that_prefect_has_none_of(name: str) -> None:
    with pytest.raises(FlowError, match=f"^--queue {name!r}: found '[%/<]', expected a name without any of "):
        serve_host(None, name, None, silent)
