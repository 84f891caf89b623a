"""What a batch is refused for before anyone waits for a server, or at least for a flow."""

from pathlib import Path

import pytest

import engine
from config import Config, MemoryConfig
from engine import CircuitSpec, EngineError, Rejected
from flows import launch
from flows.errors import FlowError, ServerError
from flows.launch import refuse_what_never_fits, run_batch
from flows.parameters.batch import BatchParameters
from groth16.errors import InputError
from policy import Circuit, Entry, Limits
from tests.groth16.samples import sample

GIB = 2**30
SPEC = CircuitSpec("wide", Path("wide.zkey"), witness=Path("wide.wtns"), partitions=3)


def limits(budget_bytes: int) -> Limits:
    return engine.policy_limits(Config(memory=MemoryConfig(total_budget=budget_bytes)))


def test_a_batch_that_never_fits_is_refused_with_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    shape = Circuit("wide", (Entry("srs", GIB // 2),), phase1_bytes=GIB // 4, phase2_bytes=GIB // 4)
    monkeypatch.setattr(engine, "load_shape", lambda _spec: shape)
    refuse_what_never_fits(limits(GIB), SPEC, None)
    with pytest.raises(Rejected, match=r"^one partition of wide needs .*; set --budget or .* to 1024MiB$"):
        refuse_what_never_fits(limits(GIB - 1), SPEC, None)


def test_a_wrong_name_is_refused_before_a_server_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "prefect_server", lambda *_: pytest.fail("a server was started"))
    with pytest.raises(EngineError, match="merkle"):
        run_batch(BatchParameters(circuit="merkel"), print)


OWN = f"""
[circuits.own]
zkey = "{sample("bn254", "sample.zkey")}"
witness = "{sample("bn254", "sample.wtns")}"
"""


@pytest.mark.parametrize(
    ("settings", "parameters", "why"),
    [
        (OWN, {"circuit": "owns"}, "did you mean 'own'"),
        (OWN, {"budget": "1000TiB"}, "is free"),
        (OWN, {"budget": "1KiB"}, "would do"),
        (OWN + "[gpus]\ncores = [100000]", {}, "gpus.cores names core 100000"),
        (OWN + "[gpus]\ndevices = [0]", {}, "gpus.devices"),
        (OWN + '[memory]\nledger = "damaged.json"', {}, "damaged.json: is no ledger"),
        (OWN + '[memory]\nledger = "damaged.json/ledger"', {}, "Not a directory"),
        (OWN, {"output": "damaged.json/proofs"}, "Not a directory"),
        (OWN.replace(".zkey", ".none"), {}, "sample.none: cannot be read"),
        (OWN.replace(".wtns", ".none"), {}, "sample.none: cannot be read"),
    ],
)
def test_what_cannot_run_is_refused_before_anything_starts(
    settings: str, parameters: dict[str, str], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CUZK_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(launch, "prefect_server", lambda *_: pytest.fail("a server was started"))
    Path("damaged.json").write_text("{}")
    Path("cuzk.toml").write_text(settings)
    said = list[str]()
    with pytest.raises((EngineError, FlowError, InputError), match=why):
        run_batch(BatchParameters(**{"circuit": "own", "budget": "1GiB", **parameters}), said.append)  # type: ignore[arg-type]  # as text from a form
    assert said == []


def test_a_server_that_is_named_is_said_before_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:1/api")
    said = list[str]()
    with pytest.raises(ServerError):
        run_batch(BatchParameters(circuit="multiplier"), said.append)
    assert said[-1] == "using the Prefect server at http://127.0.0.1:1/api"
