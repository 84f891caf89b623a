"""Which policy a run is under, as one word that a command line, a log and a replay share."""

from policy import BudgetPolicy, FixedConcurrency, Limits, Policy
from sim.errors import SimError

BUDGET = "budget"


def policy_of(kind: str, limits: Limits) -> Policy:
    """ "budget", or "fixed:N" for N partitions at once. Raises SimError for anything else."""
    at_once = fixed_at_once(kind)
    return BudgetPolicy(limits) if at_once is None else FixedConcurrency(limits, at_once)


def fixed_at_once(kind: str) -> int | None:
    """The N of "fixed:N", None for "budget". Raises SimError for anything else."""
    if kind == BUDGET:
        return None
    name, _, number = kind.partition(":")
    if name == "fixed" and number.isdecimal() and int(number) > 0:
        return int(number)
    raise SimError(f'policy {kind!r}: expected "budget", or "fixed:N" for N partitions at once')
