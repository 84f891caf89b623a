"""The checker can fail: a policy with a fault is caught within few seeds, by a rule that it breaks."""

import pytest

from sim.torture.trial import Finding, run_seed
from tests.sim.torture.mutants import MUTANTS

FEW = 60  # seeds


def first_finding() -> Finding | None:
    return next(filter(None, (run_seed(seed, 40).finding for seed in range(FEW))), None)


@pytest.mark.parametrize("name", MUTANTS)
def test_a_fault_is_caught_by_a_rule_that_it_breaks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rules, patch = MUTANTS[name]
    patch(monkeypatch)
    found = first_finding()
    assert found is not None
    assert found.rule in rules, found.why


def test_the_policy_without_a_fault_is_not() -> None:
    assert first_finding() is None
