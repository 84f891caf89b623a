"""Batches that a daemon proves: the flow is the same, the state is the daemon's."""

import asyncio
import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from config import Config, load_config
from daemon.errors import DaemonError, NotAllowed
from db import list_runs, open_history, show_run
from engine import EngineError
from flows.launch import run_batch
from flows.parameters.batch import BatchParameters
from flows.proving.daemon_circuit import on_daemon
from tests.daemon.conftest import Daemon, new_daemon, params  # noqa: F401 fixtures
from tests.flows.support import eventually, read_until, start_batch


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the batches, whose Prefect server is made once."""
    return tmp_path_factory.mktemp("batches")


@pytest.fixture
def daemon(new_daemon: Callable[..., Daemon]) -> Iterator[Daemon]:  # noqa: F811 a fixture
    return new_daemon().start()


def test_a_batch_is_proved_by_the_daemon_and_shown_recorded_and_written_here(
    daemon: Daemon, home: Path, tmp_path: Path
) -> None:
    output = tmp_path / "proofs"
    process = start_batch(
        home, circuit="multiplier", count=3, partitions=2, engine=daemon.address, output=output
    )
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert "making a development key" not in out  # that is the daemon's to do
    for folder in sorted(output.glob("multiplier-*")):
        for index in (0, 1):
            daemon.verify(*((folder / f"{n}_{index}.json").read_bytes() for n in ("proof", "public")))
    assert len(list(output.glob("*/proof_*.json"))) == 6
    with open_history(home / "history.db") as history:
        (run,) = list_runs(history, 5)
        detail = show_run(history, run.run.id)
    assert [each.proof.state for each in detail.proofs] == ["succeeded"] * 3
    assert all(part.seconds.prove_s > 0 for each in detail.proofs for part in each.partitions)
    assert {part.partition.device for each in detail.proofs for part in each.partitions} == {"cpu"}
    assert detail.run.state == "succeeded"
    assert detail.run.peak_rss_bytes is None  # it is the daemon's, whose own run has it
    assert detail.run.peak_reserved_bytes is None


def test_a_batch_shows_the_token_that_its_settings_name(
    new_daemon: Callable[..., Daemon],  # noqa: F811 a fixture
    tmp_path: Path,
) -> None:
    token, settings = tmp_path / "token", tmp_path / "cuzk.toml"
    token.write_text("a token of more than sixteen characters")
    token.chmod(0o600)
    settings.write_text('[client]\ntoken_file = "token"')
    daemon = new_daemon(f'token_file = "{token}"').start()
    parameters = BatchParameters(circuit="multiplier", engine=daemon.address)
    with pytest.raises(NotAllowed):
        asyncio.run(on_daemon(parameters, Config()))
    _, circuit = asyncio.run(on_daemon(parameters, load_config(settings)))
    assert circuit.name == "multiplier"


def test_a_batch_that_is_killed_leaves_nothing_on_the_daemon(daemon: Daemon, home: Path) -> None:
    process = start_batch(home, circuit="multiplier", count=5000, concurrency=3, engine=daemon.address)
    read_until(process, "proved in")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)

    def is_idle() -> bool:
        status = daemon.ask(lambda client: client.status())
        return not (status.waiting or status.running)

    assert eventually(is_idle)


@pytest.mark.parametrize(
    ("circuit", "error", "said"),
    [("mutliplier", DaemonError, "did you mean 'multiplier'"), ("", EngineError, "")],
)
def test_what_the_daemon_cannot_prove_is_refused_before_anything_starts(
    daemon: Daemon, circuit: str, error: type[Exception], said: str
) -> None:
    if not circuit:
        settings = daemon.home / "cuzk.toml"
        settings.write_text(
            settings.read_text() + '[circuits.broken]\nzkey = "missing.zkey"\nwitness = "missing.wtns"\n'
        )
        daemon.stop()
        daemon.start()
        circuit, said = "broken", "missing.zkey"
    with pytest.raises(error, match=said):
        run_batch(BatchParameters(circuit=circuit, engine=daemon.address), lambda _: None)


def test_a_daemon_that_is_not_there_is_said_at_once() -> None:
    with pytest.raises(DaemonError, match=r"no daemon answers at 127\.0\.0\.1:1; start one"):
        run_batch(BatchParameters(circuit="multiplier", engine="127.0.0.1:1"), lambda _: None)


def test_parameters_are_json_with_an_engine() -> None:
    parameters = BatchParameters(circuit="multiplier", engine="unix:///run/cuzk.sock")
    assert json.loads(parameters.model_dump_json())["engine"] == "unix:///run/cuzk.sock"
