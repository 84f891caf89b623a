"""Which policy a run is under, as one word that a command line, a log and a replay share."""

from policy import BudgetPolicy, FixedConcurrency, Limits, Policy
from sim.errors import SimError

BUDGET = "budget"


def policy_of(kind: str, limits: Limits) -> Policy:
    """ "budget", or "fixed:N" for N partitions at once. Raises SimError for anything else."""
    name, _, number = kind.partition(":")
    if kind == BUDGET:
        return BudgetPolicy(limits)
    if name == "fixed" and number.isdecimal() and int(number) > 0:
        return FixedConcurrency(limits, int(number))
    raise SimError(f'policy {kind!r}: expected "budget", or "fixed:N" for N partitions at once')
