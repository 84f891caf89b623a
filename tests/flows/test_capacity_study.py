"""The flow `capacity_study` on a real Prefect server: its artifacts, and its runs in the history."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import (
    ArtifactFilter,
    ArtifactFilterFlowRunId,
    FlowRunFilter,
    FlowRunFilterId,
)
from prefect.settings import PREFECT_API_URL, PREFECT_LOGGING_TO_API_ENABLED, temporary_settings
from pydantic import ValidationError

from db import list_runs, open_history
from flows.capacity_study import StudyParameters, capacity_study
from flows.server.chosen import API_URL, prefect_server
from flows.server.recorded import send_what_is_pending

ZEN4 = "zen4-96-core-rtx5070ti-755gib"
BATCH: dict[str, Any] = {"circuit": "porep-32g", "count": 3, "machine": ZEN4, "seeds": 2}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home with a server, whose settings and history it is."""
    folder = tmp_path_factory.mktemp("study")
    with prefect_server(folder, print) as started, pytest.MonkeyPatch.context() as patch:
        started.wait_ready(print)
        patch.setenv("CUZK_HOME", str(folder))
        patch.delenv(API_URL, raising=False)
        logs_stay_here = {PREFECT_API_URL: started.api_url, PREFECT_LOGGING_TO_API_ENABLED: False}
        with temporary_settings(logs_stay_here):
            yield folder
            send_what_is_pending()  # else Prefect does at the interpreter's exit, and starts a server for it


async def read_artifacts(name: str) -> dict[str, Any]:
    """The data of the last flow run of that name, by key."""
    async with get_client() as client:
        flow_runs = await client.read_flow_runs()
        (run,) = [each for each in flow_runs if each.name == name]
        found = await client.read_artifacts(
            artifact_filter=ArtifactFilter(flow_run_id=ArtifactFilterFlowRunId(any_=[run.id])),
            flow_run_filter=FlowRunFilter(id=FlowRunFilterId(any_=[run.id])),
        )
    return {str(each.key): each.data for each in found}


def artifacts(name: str) -> dict[str, Any]:
    return asyncio.run(read_artifacts(name))


def studied(**parameters: Any) -> Any:
    """The state that the flow ends in."""
    return asyncio.run(capacity_study(StudyParameters(**BATCH | parameters), return_state=True))


def test_a_run_leaves_its_figures_its_pictures_and_every_run_in_the_history(home: Path) -> None:
    state = studied()
    assert state.is_completed()
    found = artifacts(f"run porep-32g ×3 on {ZEN4}")
    rows = json.loads(found["figures"])
    assert [row["name"] for row in rows[:2]] == ["proofs", "proofs_an_hour"]
    assert "±" in rows[1]["value"]
    peak = next(row for row in rows if row["name"] == "peak_reserved_bytes")
    assert peak["value"].endswith("GiB")
    assert str(state.message).startswith("3 proofs in ")
    assert "the first seed" in found["pictures"]
    pictures = [base64.b64decode(each) for each in re.findall(r"base64,([^)]+)\)", found["pictures"])]
    assert len(pictures) == 2
    assert all(each.startswith(b"\x89PNG") for each in pictures)
    with open_history(home / "history.db") as history:
        runs = [each.run for each in list_runs(history)]
    assert [(run.source, run.state) for run in runs] == [("sim", "succeeded")] * 2


def test_a_sweep_and_a_comparison_show_every_point(home: Path) -> None:
    assert home
    assert studied(kind="sweep", vary=["machine.memory=64GiB,128GiB,256GiB"]).is_completed()
    found = artifacts(f"sweep porep-32g ×3 on {ZEN4}")
    points = json.loads(found["points"])
    assert [row["machine.memory"] for row in points] == ["128GiB", "256GiB", "64GiB"]
    assert [row.get("mark") for row in points] == ["", ">*", None]
    assert "never fits" in points[2]["verdict"]
    assert "data:image/png;base64," in found["pictures"]
    assert studied(kind="compare", others=["machine.gpus=2", "policy=fixed:1"]).is_completed()
    cases = json.loads(artifacts(f"compare porep-32g ×3 on {ZEN4}")["cases"])
    assert [row["settings"] for row in cases] == ["as it is", "machine.gpus=2", "policy=fixed:1"]
    assert cases[2]["difference"] == "sure"


def test_a_plan_shows_what_one_step_more_would_gain(home: Path) -> None:
    assert home
    state = studied(kind="plan", find="gpus", settings=["machine.synthesis_slots=20"])
    assert state.message == "machine.gpus=1 does"
    found = artifacts(f"plan porep-32g ×3 on {ZEN4}")
    steps = [row["step"].partition("=")[0] for row in json.loads(found["steps"])]
    assert sorted(steps) == sorted(
        f"machine.{each}" for each in ("cores", "disks", "gpus", "hosts", "memory", "synthesis_slots")
    )


@pytest.mark.parametrize(
    "question",
    [{"kind": "plan"}, {"kind": "sweep", "vary": ["machine.memory=1GiB,2GiB"]}],
    ids=lambda q: q["kind"],
)
def test_what_the_machine_cannot_be_asked_fails_the_run_in_words_of_the_form(
    home: Path, question: dict[str, Any]
) -> None:
    assert home
    state = studied(machine="default", circuit="merkle", **question)
    assert state.is_failed()
    message = str(state.message)
    assert message.startswith("machine.memory: profile default has no [[hosts]]"), message
    assert f"choose another Machine, one of xeon-16-core-h200-126gib, {ZEN4}" in message
    assert "--" not in message


def test_what_never_fits_fails_the_run_with_its_reason(home: Path) -> None:
    assert home
    state = studied(budget="1GiB")
    assert state.is_failed()
    assert "porep-32g never fits" in str(state.message)


def test_the_form_has_no_choice_of_null() -> None:
    fields = StudyParameters.model_json_schema()["properties"]
    assert not [name for name, each in fields.items() if "anyOf" in each]
    with pytest.raises(ValidationError, match="a sweep varies something"):
        StudyParameters(**BATCH, kind="sweep")
