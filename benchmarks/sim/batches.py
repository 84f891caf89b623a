"""The real batches that the simulator is measured by: one to learn from, and others that differ from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

LEARNED = "learned"


@dataclass(frozen=True)
class RealBatch:
    """`counts` proofs of each circuit in turn, `concurrency` of them at a time, each of so many partitions.

    `apart`: so many of each are proved by themselves first, so that it is seen what a circuit takes without
    the other beside it. `working_sets`: the budget has room for the largest circuit and so many of its
    working sets, and so for the keys of one large circuit at a time where it is small; None: for everything.
    """

    name: str
    counts: Mapping[str, int]
    concurrency: int
    partitions: int = 1
    working_sets: int | None = None
    apart: int = 0

    @property
    def in_turn(self) -> list[str]:
        """The circuit of each proof."""
        order = [name for name in self.counts for _ in range(self.apart)]
        left = {name: count - self.apart for name, count in self.counts.items()}
        while any(left.values()):
            for name in self.counts:
                if left[name]:
                    left[name] -= 1
                    order.append(name)
        return order


# Two circuits of opposite kinds: one whose witness takes longer than its proof, and one of which it is given.
BATCHES = (
    RealBatch(LEARNED, {"merkle": 20, "dense-2^17": 20}, concurrency=3, apart=8),
    RealBatch("other counts", {"merkle": 10, "dense-2^17": 30}, concurrency=4),
    RealBatch("one at a time", {"merkle": 10, "dense-2^17": 10}, concurrency=1),
    RealBatch("twelve at a time", {"merkle": 24, "dense-2^17": 24}, concurrency=12),
    RealBatch("a small budget", {"merkle": 14, "dense-2^17": 14}, concurrency=8, working_sets=2),
    RealBatch("one circuit, three partitions", {"merkle": 12}, concurrency=6, partitions=3),
)
