"""How the partitions of a proof are called."""

from flows.display.proof import partition_keys
from tasks.key import Key


def test_a_partition_is_named_by_its_place_where_there_are_several() -> None:
    assert partition_keys("id", "merkle #2", 1) == [Key("id", "merkle #2")]
    assert partition_keys("id", "merkle #2", 3) == [
        Key("id", "merkle #2 [1/3]", 0),
        Key("id", "merkle #2 [2/3]", 1),
        Key("id", "merkle #2 [3/3]", 2),
    ]
