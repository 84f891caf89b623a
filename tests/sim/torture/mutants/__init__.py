"""Policies with a deliberate fault, one or more for each rule: what the checker must catch.

Each is a patch of the real policy, with the numbers of the rules by which it may be caught.
"""

from tests.sim.torture.mutants import devices, scheduling
from tests.sim.torture.mutants.registry import MUTANTS

__all__ = ["MUTANTS", "devices", "scheduling"]
