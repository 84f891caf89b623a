"""How the partitions of a proof are called."""

from dataclasses import replace
from pathlib import Path

from engine import CircuitSpec, ProofRequest
from flows.proof import partition_keys
from tasks.key import Key

SPEC = CircuitSpec("merkle", Path("merkle.zkey"), witness=Path("merkle.wtns"), partitions=2)
REQUEST = ProofRequest(SPEC, "merkle #2", Path("out"))


def test_a_partition_is_named_by_its_place_where_there_are_several() -> None:
    assert partition_keys("id", replace(REQUEST, partitions=1)) == [Key("id", "merkle #2")]
    assert [key.name for key in partition_keys("id", replace(REQUEST, partitions=3))] == [
        "merkle #2 [1/3]",
        "merkle #2 [2/3]",
        "merkle #2 [3/3]",
    ]
    assert [key.partition for key in partition_keys("id", REQUEST)] == [0, 1]
