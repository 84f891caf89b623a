"""What one look at a process tells."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class PoolUse:
    """Threads of one pool, by what their names have in common, and the processors they kept busy.

    cores: seconds of work a second since the look before; 0 at the first.
    """

    threads: int
    cores: float


@dataclass(frozen=True, slots=True)
class GpuUse:
    """Bytes of a GPU's memory: of the process, where the driver tells that, and of everybody."""

    name: str
    process_bytes: int | None
    used_bytes: int
    total_bytes: int


@dataclass(frozen=True, slots=True)
class ProcessSample:
    """One look at a process; at_s: seconds since the watch began.

    rss_bytes: resident. file_bytes: of them, pages of mapped files, which the system can take back, and
    shared memory. pss_bytes: resident, each page divided by how many processes share it; None where the
    system does not tell, or too slowly to be asked at every look. cores: processors kept busy, of all pools.
    """

    at_s: float
    rss_bytes: int
    file_bytes: int
    pss_bytes: int | None
    threads: int
    cores: float
    pools: dict[str, PoolUse]
    gpus: tuple[GpuUse, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)
