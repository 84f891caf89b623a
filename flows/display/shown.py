"""How a batch is shown in Prefect: each proof by tasks of its own, or short and many ones in groups."""

from flows.display.each_proof import EachProof
from flows.display.followers import Followers
from flows.display.in_groups import InGroups
from flows.display.pace import Pace
from flows.display.shape import Owner, Shape, Shown

BEHIND = 16  # proofs that have ended and are not wholly shown yet


def shown(owner: Owner, shape: Shape, followers: Followers, pace: Pace | None = None) -> Shown:
    """What shows the batch. pace: of its proofs; None: they take no time, as simulated ones."""
    alone = EachProof(owner, shape.partitions, followers)
    if shape.each or (pace is None and shape.is_small):
        return alone
    return InGroups(owner, shape, followers, alone, pace)
