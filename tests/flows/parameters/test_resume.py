"""Which runs can be taken up, and what of them stands."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from config import ConfigError
from db import HistoryError, Run, open_history
from flows.parameters.batch import BatchParameters
from flows.parameters.resume import RECORD, keep, taken_up

OLD = BatchParameters(circuit="merkle", count=9, partitions=2, name="nightly", concurrency=7)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CUZK_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def interrupted(home: Path, **values: object) -> str:
    """A run in the history that proved OLD into a folder of its own."""
    fields = {"source": "real", "state": "interrupted", "output_path": str(home / "to"), **values}
    run = Run(name="merkle ×9", code_version="1", **fields)  # type: ignore[arg-type]  # as the test says
    with open_history(home / "history.db") as history, history.writer() as writer:
        writer.insert(run)
    return run.id


def test_what_is_proved_is_the_run_s_and_how_is_as_asked(home: Path) -> None:
    run_id = interrupted(home)
    keep(OLD, home / "to")
    found = taken_up(BatchParameters(resume=run_id[:13], concurrency=2, budget="1GiB"))
    assert (found.circuit, found.count, found.partitions) == ("merkle", 9, 2)
    assert (found.concurrency, found.budget, found.output) == (2, "1GiB", home / "to")
    assert found.title == "merkle ×9 · nightly · resumed"
    assert taken_up(found) == found


def test_what_is_resumed_has_its_own_name_once_that_is_known(home: Path) -> None:
    """The form has the number of a new batch."""
    run_id = interrupted(home)
    keep(OLD, home / "to")
    asked = BatchParameters(circuit="merkle", count=12, name="nightly", resume=run_id)
    assert asked.asked_title == f"the rest of {run_id}"
    assert taken_up(asked).title == "merkle ×9 · nightly · resumed"
    assert OLD.asked_title == OLD.title == "merkle ×9 · nightly"


def test_a_flow_run_that_runs_again_goes_on_with_its_own_newest_run(home: Path) -> None:
    first = interrupted(home, flow_run_id="again", started_at=datetime(2026, 1, 1, tzinfo=UTC))
    second = interrupted(home, flow_run_id="again", output_path=str(home / "second"))
    interrupted(home, flow_run_id="another", output_path=str(home / "another"))
    assert taken_up(OLD, "again") == OLD, "of what has not begun there is nothing"
    for folder in ("to", "second", "another"):
        keep(OLD, home / folder)
    for asked in (OLD, OLD.model_copy(update={"resume": first})):
        found = taken_up(asked, "again")
        assert (found.resume, found.output) == (second, home / "second")
    assert taken_up(OLD, "a third") == OLD
    interrupted(home, flow_run_id="again", output_path=str(home / "another"), state="running")
    with pytest.raises(ConfigError, match="goes on in process"):
        taken_up(OLD, "again")


def test_inputs_are_those_that_the_run_found(home: Path) -> None:
    run_id = interrupted(home)
    (home / "inputs").mkdir()
    (home / "inputs" / "a.wtns").touch()
    keep(BatchParameters(circuit="merkle", inputs=[Path("inputs")]), home / "to")
    (home / "inputs" / "b.wtns").touch()
    found = taken_up(BatchParameters(resume=run_id))
    assert (found.inputs, found.count) == ([home / "inputs" / "a.wtns"], 1)
    (home / "inputs" / "a.wtns").unlink()
    with pytest.raises(ConfigError, match=r"inputs: .*a\.wtns: cannot be read"):
        taken_up(BatchParameters(resume=run_id))


def test_a_folder_that_the_history_hides_is_the_run_s_own(home: Path) -> None:
    run_id = interrupted(home, output_path="path-0123456789ab")
    keep(OLD, home / "proofs" / run_id)
    assert taken_up(BatchParameters(resume=run_id)).output == home / "proofs" / run_id


@pytest.mark.parametrize(
    ("values", "record", "why"),
    [
        ({"source": "sim"}, OLD.model_dump_json(), "is simulated"),
        ({"state": "running"}, OLD.model_dump_json(), "goes on in process"),
        ({}, None, "cannot be read"),
        ({}, "{}", "circuit: expected a name"),
    ],
)
def test_a_run_that_cannot_be_taken_up_is_refused_in_one_line(
    values: dict[str, object], record: str | None, why: str, home: Path
) -> None:
    run_id = interrupted(home, **values)
    (home / "to").mkdir()
    if record is not None:
        (home / "to" / RECORD).write_text(record)
    with pytest.raises(ConfigError, match=why) as refusal:
        taken_up(BatchParameters(resume=run_id))
    assert str(refusal.value).startswith("resume: ")
    assert "\n" not in str(refusal.value)


@pytest.mark.usefixtures("home")
def test_a_run_that_is_not_there_is_refused() -> None:
    with pytest.raises(HistoryError, match="no run begins so"):
        taken_up(BatchParameters(resume="01"))


def test_a_new_batch_is_as_it_is() -> None:
    assert taken_up(OLD) is OLD
