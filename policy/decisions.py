"""What to do: the answers of `Policy.handle`. A driver executes them in the order given.

Within one answer `Stop` comes first, then `Evict`, `Admit`, `Load`, `Synthesize`, then each `Prove` after the
`EvictFromDevice` and `Upload` that it takes, then the ends of jobs, then `WakeAt`: by the `turn` of each. So
memory that an eviction frees is free before a load takes it.
"""

from policy.message import message
from policy.model import Entry, PartitionId


@message
class Stop:
    """End the partition's work, free what it holds (a, b, c too), then answer `Failed`.

    Its reservation, slot and worker stay taken until the answer. What it had reported meanwhile
    (`Synthesized`, `QuotientDone`, `Proved`) may still be on its way; `Verified` is an answer too.
    """

    turn = 0
    partition: PartitionId


@message
class Evict:
    """Free the entry now: its bytes count as free from this decision on. Nobody uses it."""

    turn = 1
    entry: Entry


@message
class Admit:
    """For the record: the partition stopped waiting; its working set of `reserved_bytes` is reserved.

    Nothing to execute. Its entries are in memory, or are being loaded, or have their `Load` in this answer.
    """

    turn = 2
    partition: PartitionId
    reserved_bytes: int


@message
class Load:
    """Bring the entry into memory, then answer `Loaded` or `LoadFailed`. Its bytes are reserved."""

    turn = 3
    entry: Entry


@message
class Synthesize:
    """Make a, b, c, then answer `Synthesized` or `Failed`."""

    turn = 4
    partition: PartitionId


@message
class EvictFromDevice:
    """Free the entry on the device: its bytes there count as free from this decision on. Nobody uses it."""

    turn = 5
    device: str
    entry: Entry


@message
class Upload:
    """For the record: the entry's bytes on the device are reserved, for the `Prove` that follows.

    Nothing to answer. Who proves with it first sends it there; it stays until `EvictFromDevice`.
    """

    turn = 5
    device: str
    entry: Entry


@message
class Prove:
    """Prove on the named device, answering `QuotientDone`, `Proved`, `Verified`, or `Failed` at any point."""

    turn = 5
    partition: PartitionId
    device: str


@message
class Complete:
    """Every partition of the job is verified."""

    turn = 6
    job_id: str


@message
class Fail:
    """The job has ended without success and holds nothing any more. `why` is "cancelled" after `Cancel`."""

    turn = 6
    job_id: str
    why: str


@message
class Reject:
    """The job was not taken, since it could never run; `why` has the numbers and says what would fit."""

    turn = 6
    job_id: str
    why: str


@message
class WakeAt:
    """Send `Tick` at this time. Asked again where the time changes; an older request may be dropped then."""

    turn = 7
    at_s: float


Decision = (
    Stop
    | Evict
    | Admit
    | Load
    | Synthesize
    | EvictFromDevice
    | Upload
    | Prove
    | Complete
    | Fail
    | Reject
    | WakeAt
)
