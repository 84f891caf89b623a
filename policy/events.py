"""What happened: the messages a driver (engine or simulator) hands to `Policy.handle`.

A driver reports each thing once, when the memory it speaks of is really in the state it says.
"""

from policy.message import message
from policy.model import Job, PartitionId


@message
class Submit:
    """A new job; answered by `Reject`, or at last by `Complete` or `Fail`."""

    job: Job


@message
class Loaded:
    """The entry of a `Load` is in memory, where it takes `size_bytes`: at most what was reserved for it.

    The rest is given back. None: it takes all of it.
    """

    entry_key: str
    size_bytes: int | None = None

    def __post_init__(self) -> None:
        if self.size_bytes is not None and self.size_bytes < 0:
            raise ValueError(f"size_bytes is {self.size_bytes}, expected at least 0")


@message
class LoadFailed:
    """The entry of a `Load` could not be loaded and takes no memory; jobs that wait for it fail."""

    entry_key: str
    why: str


@message
class Synthesized:
    """a, b and c exist; the synthesis slot is free."""

    partition: PartitionId


@message
class QuotientDone:
    """h exists, a, b, c are freed: phase 1 is given back. Optional: `Proved` gives back all that is left."""

    partition: PartitionId


@message
class Measured:
    """The most that the partition's working set has really taken. Optional, at any time until it has ended.

    Later partitions of the circuit reserve by it. So it has to count everything: arrays, scratch memory and
    what a witness calculator takes.
    """

    partition: PartitionId
    working_bytes: int

    def __post_init__(self) -> None:
        if self.working_bytes < 0:
            raise ValueError(f"working_bytes is {self.working_bytes}, expected at least 0")


@message
class DeviceOutOfMemory:
    """The device that proves the partition had no memory left: no proof, and the partition holds nothing now.

    It waits again, first of its job, and fewer of its circuit go to a device at once from now on. Alone on
    its device it would fail again, so then its job fails.
    """

    partition: PartitionId


@message
class DeviceLost:
    """The device makes no more proofs: nothing goes there any more, and its entries are gone.

    Jobs that no other device can prove fail. What it was proving still comes to an end as it may: by a proof,
    by `Displaced`, or by `Failed`.
    """

    device: str


@message
class Displaced:
    """The lost device has made no proof of the partition, which holds nothing now.

    It waits again, first of its job, for another device.
    """

    partition: PartitionId


@message
class Proved:
    """The proof exists, the working set is freed, the worker too. The driver goes on to verify."""

    partition: PartitionId


@message
class Verified:
    """The proof passed its check."""

    partition: PartitionId


@message
class Failed:
    """The partition ended without a proof, by an error or in answer to `Stop`; it holds no memory now."""

    partition: PartitionId
    why: str


@message
class Cancel:
    """Somebody no longer wants the job. Ignored where the job has ended: the two may cross on their way."""

    job_id: str


@message
class Resized:
    """The budget is another from now on. Jobs that wait and can never fit the new one fail."""

    budget_bytes: int

    def __post_init__(self) -> None:
        if self.budget_bytes < 1:
            raise ValueError(f"budget_bytes is {self.budget_bytes}, expected at least 1")


@message
class Shared:
    """Of the budget only so much is this process's for now, since others hold the rest; no job fails by it.

    Without this event the whole budget is. The driver asks others for `Policy.wanted_share`. `short`: they
    could not give it; else what is lacking can be had by asking, unless it is more than the budget.
    """

    share_bytes: int
    short: bool = True

    def __post_init__(self) -> None:
        if self.share_bytes < 0:
            raise ValueError(f"share_bytes is {self.share_bytes}, expected at least 0")


@message
class Unload:
    """Somebody wants the entry gone from host memory. Ignored where it is in use, loads, or is not there."""

    entry_key: str


@message
class Tick:
    """Time passed: the answer to `WakeAt`. Harmless at any time."""


OfPartition = (
    Synthesized | QuotientDone | Measured | DeviceOutOfMemory | Displaced | Proved | Verified | Failed
)

Event = OfPartition | Submit | Loaded | LoadFailed | DeviceLost | Cancel | Resized | Shared | Unload | Tick
