"""The parameters as a form and as settings, and how a batch's end is put in words."""

from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import ValidationError

from config import ConfigError
from engine import ProofCancelled, ProofFailed
from flows.parameters.batch import BatchParameters, batch_config, batch_parameters
from flows.summary import BatchFailed, BatchSummary, Proofs, ProofSummary


def summary(*errors: ProofFailed | None) -> BatchSummary:
    proofs = Proofs(ProofSummary(f"merkle #{n}", 1.0, error) for n, error in enumerate(errors, 1))
    return BatchSummary("run", "history.db", Path("to"), Path("run.log"), None, len(errors), 0, proofs)


def test_a_batch_says_how_late_it_was() -> None:
    proofs = [
        ProofSummary(f"merkle #{n}", 1.0, None, late_s) for n, late_s in enumerate((0.0, 61.0, 7500.0), 1)
    ]
    late = replace(summary(None, None, None), proofs=Proofs(proofs))
    assert late.headline == "3 of 3 proved, 2 of them up to 2 h 5 min late"
    assert [proof.state for proof in proofs] == ["proved", "proved, 1 min 1 s late", "proved, 2 h 5 min late"]
    failed = ProofSummary("merkle #1", 1.0, ProofFailed("bad witness"), 5.0)
    assert failed.state == "failed"


def test_a_batch_that_is_cancelled_has_not_stopped_for_a_failure() -> None:
    some = replace(summary(None, ProofCancelled("cancelled with the batch")), count=9)
    assert some.headline == "1 of 9 proved; cancelled with the batch"
    assert "stopped after the first failure" in replace(summary(None, ProofFailed("no")), count=9).headline


def test_every_field_of_the_form_has_a_title_and_a_help() -> None:
    for field in BatchParameters.model_fields.values():
        assert field.title
        assert field.description
        assert field.description.endswith((".", '".'))


def test_the_form_offers_the_circuits_of_the_settings_and_the_bundled_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cuzk.toml").write_text('[circuits.own]\nzkey = "own.zkey"\nwitness = "own.wtns"\n')
    monkeypatch.setenv("CUZK_CONFIG", str(tmp_path / "cuzk.toml"))
    form = BatchParameters.model_json_schema()
    assert form["properties"]["circuit"]["enum"][:2] == ["own", "multiplier"]
    assert form["required"] == ["circuit"]
    monkeypatch.setenv("CUZK_CONFIG", str(tmp_path / "none.toml"))
    assert "own" not in BatchParameters.model_json_schema()["properties"]["circuit"]["enum"]


def test_a_field_of_the_form_is_of_one_type_with_its_range() -> None:
    fields = BatchParameters.model_json_schema()["properties"]
    assert all("type" in field and "anyOf" not in field for field in fields.values())
    assert (fields["partitions"]["minimum"], fields["partitions"]["maximum"]) == (1, 10_000)
    assert fields["priority"]["enum"] == ["critical", "high", "normal", "low"]
    assert fields["count"]["minimum"] == 1
    assert "default" not in fields["count"]
    assert fields["concurrency"]["default"] == 3
    assert fields["mode"]["default"] == "real"


def test_what_the_form_sends_can_be_read_back() -> None:
    sent = BatchParameters(circuit="merkle", due="06:00", device="0,1", name="nightly", output=Path("to"))
    assert BatchParameters.model_validate_json(sent.model_dump_json()) == sent


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"circuit": ""}, "^circuit: expected a name"),
        ({"due": "soon"}, "^due: found 'soon', expected a time such as"),
        ({"name": "a\nb\x1b[31m"}, r"^name: found 'a\\nb\\x1b\[31m', expected printable characters"),
        ({"device": "gpu"}, "^device: found 'gpu', expected different GPUs"),
        ({"engine": "host"}, "^engine: address 'host': expected \"HOST:PORT\""),
        ({"engine": "host:7700", "budget": "1GiB"}, "^budget: is for the daemon to say"),
        ({"engine": "host:7700", "mode": "simulated"}, "^engine: a simulated batch needs none"),
        ({"inputs": ["nowhere"]}, "^inputs: nowhere: cannot be read"),
        ({"cirquit": "merkle"}, "^cirquit: "),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line_that_names_the_field(
    wrong: dict[str, object], why: str
) -> None:
    with pytest.raises(ConfigError, match=why) as refusal:
        batch_parameters(**{"circuit": "merkle", **wrong})
    assert "\n" not in str(refusal.value)


def test_a_proof_is_made_of_each_input(tmp_path: Path) -> None:
    for name in ("b.wtns", "a.json", "notes.txt"):
        (tmp_path / name).touch()
    assert BatchParameters(circuit="merkle", inputs=tmp_path).count == 2
    assert BatchParameters(circuit="merkle", inputs=[tmp_path, tmp_path / "b.wtns"]).count == 3
    assert BatchParameters(circuit="merkle", inputs=tmp_path, count=2).count == 2
    with pytest.raises(ConfigError, match=r"^count: found 3, expected 2, one for each input"):
        batch_parameters(circuit="merkle", inputs=tmp_path, count=3)
    assert BatchParameters(circuit="merkle").count == 3


@pytest.mark.parametrize("wrong", [{"count": 0}, {"concurrency": 0}, {"partitions": 0}, {"priority": "soon"}])
def test_values_out_of_range_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        BatchParameters(circuit="merkle", **wrong)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        ("2 Gigs", 'a size such as .*, or "auto"$'),
        *((zero, "a size above zero") for zero in ("0", "0GiB", "0.1B")),
    ],
)
def test_a_budget_that_is_no_size_or_nothing_is_refused_in_one_line(budget: str, expected: str) -> None:
    with pytest.raises(ConfigError, match=rf"^budget: found '{budget}', expected {expected}"):
        batch_config(BatchParameters(circuit="merkle", budget=budget), print)


def test_the_title_names_circuit_and_count() -> None:
    assert BatchParameters(circuit="merkle", count=12).title == "merkle ×12"
    assert BatchParameters(circuit="merkle", name="nightly").title == "merkle ×3 · nightly"
    assert BatchParameters(circuit="merkle", mode="simulated").title == "merkle ×3 · simulated"


def test_the_devices_take_the_place_of_the_file_s() -> None:
    assert batch_config(BatchParameters(circuit="merkle"), print).gpus.devices == "auto"
    assert batch_config(BatchParameters(circuit="merkle", device="none"), print).gpus.devices == "none"
    assert batch_config(BatchParameters(circuit="merkle", device="1, 0"), print).gpus.devices == [1, 0]


def test_the_budget_takes_the_place_of_the_file_s_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "cuzk.toml"
    path.write_text('[memory]\ntotal_budget = "8GiB"\nsafety_margin = "1GiB"\n[srs]\npreload = ["x"]\n')
    warned: list[str] = []
    own = batch_config(BatchParameters(circuit="merkle", config=path), warned.append)
    assert own.memory.total_budget == 8 * 2**30
    assert len(warned) == 1
    given = batch_config(BatchParameters(circuit="merkle", config=path, budget="2GiB"), warned.append)
    assert given.memory.total_budget == 2 * 2**30
    assert given.memory.safety_margin == 2**30
    assert given.model_copy(update={"memory": own.memory}) == own


def test_a_budget_may_be_auto_where_the_file_names_another(tmp_path: Path) -> None:
    path = tmp_path / "cuzk.toml"
    path.write_text('[memory]\ntotal_budget = "8GiB"\n')
    parameters = BatchParameters(circuit="merkle", config=path, budget="auto")
    assert batch_config(parameters, print).memory.total_budget == "auto"


def test_a_failed_batch_says_how_many_and_why() -> None:
    failed = summary(None, ProofFailed("merkle #2: no"), ProofFailed("merkle #3: no"))
    assert [proof.name for proof in failed.failed] == ["merkle #2", "merkle #3"]
    assert str(BatchFailed(failed)) == failed.headline == "1 of 3 proved, 2 failed; merkle #2: no"
    assert summary(None, None).headline == "2 of 2 proved"
    assert summary(None).failed == ()


def test_the_failed_come_first_and_the_cancelled_last() -> None:
    ended = summary(None, ProofCancelled("merkle #2: cancelled"), ProofFailed("merkle #3: no"))
    assert [proof.name for proof in ended.proofs.failed_first()] == ["merkle #3", "merkle #1", "merkle #2"]
    assert ended.headline == "1 of 3 proved, 1 failed; merkle #3: no"
    begun = "1 of 9 proved, 1 failed, stopped after the first failure; merkle #3: no"
    assert replace(ended, count=9).headline == begun
    assert [proof.state for proof in ended.proofs] == ["proved", "cancelled", "failed"]


def test_proofs_that_were_there_count_as_proved() -> None:
    assert replace(summary(None), count=3, found=2).headline == "3 of 3 proved, 2 of them before"
