"""The parameters as a form and as settings, and how a batch's end is put in words."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from config import ConfigError
from engine import ProofFailed
from flows.batch import BatchFailed, BatchParameters, BatchSummary, ProofSummary, batch_config


def summary(*errors: ProofFailed | None) -> BatchSummary:
    proofs = tuple(ProofSummary(f"merkle #{n}", 1.0, error=error) for n, error in enumerate(errors, 1))
    return BatchSummary("run", "history.db", Path("proofs"), Path("run.log"), None, proofs)


def test_every_field_of_the_form_has_a_title_and_a_help() -> None:
    for field in BatchParameters.model_fields.values():
        assert field.title
        assert field.description
        assert field.description.endswith(".")


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
    assert str(BatchFailed(failed)) == failed.headline == "1 of 3 proved; merkle #2: no"
    assert summary(None, None).headline == "2 of 2 proved"
    assert summary(None).failed == ()
