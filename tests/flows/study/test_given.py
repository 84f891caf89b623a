"""What is said twice in a question is refused, and what the form sends of itself is not taken for said."""

from __future__ import annotations

import pytest

from flows.capacity_study import StudyParameters
from flows.study.form_words import in_the_form
from flows.study.given import changed, check_policy_is_compared, check_varied, given_settings
from sim import SimError


def form(**filled: object) -> StudyParameters:
    """As the form sends it: every field, as it was or as it was filled in."""
    return StudyParameters.model_validate(StudyParameters().model_dump() | filled)


def test_fields_as_they_were_say_nothing() -> None:
    settings = ["workload.count=7", "workload.concurrency=2", "policy=fixed:2", "memory.total_budget=1GiB"]
    asked = form(circuit="merkle", settings=settings)
    assert len(given_settings(asked)) == 4
    check_policy_is_compared(form(), {})
    with pytest.raises(SimError, match="--set policy is in vain"):
        check_policy_is_compared(asked, given_settings(asked))


@pytest.mark.parametrize(
    ("filled", "setting", "field"),
    [
        ({"count": 4}, "workload.merkle.count=7", "Proofs"),
        ({"concurrency": 1}, "workload.concurrency=7", "At a time"),
        ({"policy": "fixed:3"}, "policy=budget", "Policy"),
        ({"budget": "2GiB"}, "memory.total_budget=1GiB", "Memory budget"),
    ],
)
def test_a_field_and_a_setting_do_not_say_the_same(
    filled: dict[str, object], setting: str, field: str
) -> None:
    key = setting.partition("=")[0]
    with pytest.raises(SimError) as error:
        given_settings(form(**filled, settings=[setting]))
    assert in_the_form(str(error.value)).startswith(
        f"{field} and {key} are both given, and one alone can hold"
    )
    with pytest.raises(SimError, match=f"and --vary {key} are both given"):
        check_varied(form(**filled), {}, "--vary", [key])


def test_what_is_varied_has_no_other_value() -> None:
    check_varied(form(), {"machine.cores": "2", "machine.gpus": "1"}, "--vary", ["machine.box.gpus"])
    with pytest.raises(
        SimError, match=r"--set machine\.box\.gpus=1 is in vain: --find gpus has other values"
    ):
        check_varied(form(), {"machine.box.gpus": "1"}, "--find gpus", ["machine.gpus"])


def test_a_change_of_all_hosts_is_heard_beside_what_was_given_of_one() -> None:
    given = {"machine.gpus": "1", "machine.small.gpus": "2", "machine.small.cores": "8"}
    assert changed(given, {"machine.gpus": "4"}) == {"machine.small.cores": "8", "machine.gpus": "4"}
    found = changed(given, {"machine.small.gpus": "3"})
    assert list(found.items())[-1] == ("machine.small.gpus", "3")
    assert found["machine.gpus"] == "1"
