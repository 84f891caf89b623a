"""What tasks are given."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Key:
    """Names a partition of a proof that the engine knows; `name` is for people: "merkle #2 [1/3]"."""

    proof_id: str
    name: str
    partition: int = 0
