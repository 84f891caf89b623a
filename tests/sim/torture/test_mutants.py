"""The checker can fail: a policy with a fault is caught within few seeds, by a rule that it breaks."""

from collections.abc import Iterator

import pytest

from sim.torture.trial import Finding, run_seed
from tests.sim.torture.mutants import MUTANTS

FEW = 60  # seeds


def findings() -> Iterator[Finding]:
    yield from filter(None, (run_seed(seed, 40).finding for seed in range(FEW)))


@pytest.mark.parametrize("name", MUTANTS)
def test_a_fault_is_caught_by_a_rule_that_it_breaks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Perhaps not at first: what goes wrong early may show by another rule."""
    rules, patch = MUTANTS[name]
    patch(monkeypatch)
    assert any(finding.rule in rules for finding in findings())


def test_the_policy_without_a_fault_is_not() -> None:
    assert not any(findings())
