"""A host of a machine profile: cores, memory, disks and GPUs, and what the policy may hand out on it."""

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from config import format_size
from policy import Device, Limits
from sim.errors import SimError, UnplayableError
from sim.quantities import BytesPerSecond, SizeBytes

if TYPE_CHECKING:
    from config import Config

Count = Annotated[int, Field(ge=1, le=10_000, strict=True)]
Factor = Annotated[float, Field(gt=0, allow_inf_nan=False)]
GIB = 2**30
DeviceKind = Literal["gpu", "cpu"]


def on_processors(device: Device) -> bool:
    """A GPU of which only the memory is not known has its name."""
    return device.memory_bytes is None and not device.name.startswith("gpu")


def device_kind(limits: Limits) -> DeviceKind:
    """What proves under these limits."""
    return "cpu" if all(map(on_processors, limits.devices)) else "gpu"


class Host(BaseModel):
    """One of `count` alike hosts, each with a budget of its own.

    memory              all of it; the budget is this less `memory.safety_margin`, unless `budget` is given
    memory_bandwidth    what partitions that synthesize at once share
    disks               entries are read from as many at a time, each at `disk_bandwidth`
    gpus                0: the processors prove
    workers             partitions that a GPU proves at once; default: gpus.gpu_workers_per_device
    pcie_bandwidth      of each GPU; what GPUs keep of circuits is sent to each at this rate
    synthesis_slots     partitions that synthesize at once; default: one a core
    core_speed, gpu_speed   beside what the profile's times were measured on: 2.0 takes half the time
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = "host"
    count: Count = 1
    cores: Count
    memory: SizeBytes
    budget: SizeBytes | None = None
    memory_bandwidth: BytesPerSecond | None = None
    disks: Count = 1
    disk_bandwidth: BytesPerSecond | None = None
    gpus: Annotated[int, Field(ge=0, le=1_000, strict=True)] = 0
    gpu_memory: SizeBytes | None = None
    workers: Count | None = None
    pcie_bandwidth: BytesPerSecond | None = None
    synthesis_slots: Count | None = None
    core_speed: Factor = 1.0
    gpu_speed: Factor = 1.0


class MeasuredOn(BaseModel):
    """What a profile's times were measured on, so that they follow the hosts' parts; see `Host` for these.

    What is not given is as the profile's first host has it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    device: DeviceKind | None = None
    memory_bandwidth: BytesPerSecond | None = None
    disks: Count | None = None
    disk_bandwidth: BytesPerSecond | None = None


class Prices(BaseModel):
    """What parts of a host cost, in any currency and for any time, as long as all are of the same."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    currency: str = "USD"
    host: Annotated[float, Field(ge=0)] = 0.0
    core: Annotated[float, Field(ge=0)] = 0.0
    memory_gib: Annotated[float, Field(ge=0)] = 0.0
    disk: Annotated[float, Field(ge=0)] = 0.0
    gpu: Annotated[float, Field(ge=0)] = 0.0

    def of(self, host: Host) -> float:
        """Of all `count` of the host."""
        parts = self.host + host.cores * self.core + host.disks * self.disk + host.gpus * self.gpu
        return host.count * (parts + host.memory / GIB * self.memory_gib)


def limits_of(host: Host, config: "Config") -> Limits:
    """What the policy may hand out on one such host under these settings.

    Raises SimError for a host without memory for a budget.
    """
    pipeline, scheduler = config.pipeline, config.scheduler
    slots = pipeline.synthesis_concurrency or host.synthesis_slots or host.cores
    slots = slots if pipeline.enabled else 1
    lookahead = slots if pipeline.synthesis_lookahead == "auto" else pipeline.synthesis_lookahead
    lookahead_bytes = pipeline.synthesis_lookahead_bytes
    return Limits(
        budget_bytes=_budget_bytes(host, config),
        synthesis_slots=slots,
        devices=_devices(host, config),
        synthesis_lookahead=lookahead if pipeline.enabled else 0,
        eviction_min_idle_s=config.memory.eviction_min_idle,
        lookahead_bytes=None if lookahead_bytes == "auto" else lookahead_bytes,
        sort_by_type=scheduler.sort_by_type,
        max_batch_size=scheduler.max_batch_size,
        max_batch_wait_s=scheduler.max_batch_wait_ms / 1000,
    )


def _budget_bytes(host: Host, config: "Config") -> int:
    asked = config.memory.total_budget
    if isinstance(asked, int):
        return asked
    if host.budget is not None:
        return host.budget
    budget_bytes = host.memory - config.memory.safety_margin
    if budget_bytes <= 0:
        raise UnplayableError(
            f"host {host.name}: its memory of {format_size(host.memory)} is no more than "
            f"memory.safety_margin, {format_size(config.memory.safety_margin)}; "
            "give it more memory, or a budget"
        )
    return budget_bytes


def _devices(host: Host, config: "Config") -> tuple[Device, ...]:
    workers = host.workers or config.gpus.gpu_workers_per_device
    if not host.gpus or config.gpus.devices == "none":
        return (Device("cpu", workers),)
    chosen = config.gpus.devices
    ordinals = chosen if isinstance(chosen, list) else list(range(host.gpus))
    if missing := [each for each in ordinals if each >= host.gpus]:
        raise UnplayableError(f"gpus.devices names GPU {missing[0]}, but host {host.name} has {host.gpus}")
    asked, all_bytes = config.gpus.device_memory, host.gpu_memory
    auto_bytes = None if all_bytes is None else all_bytes - max(GIB, all_bytes // 20)
    memory_bytes = auto_bytes if asked == "auto" else asked
    if memory_bytes is not None and memory_bytes <= 0:
        raise SimError(
            f"host {host.name}: gpu_memory is {format_size(all_bytes or 0)}, of which its driver takes "
            "1GiB or more; give it more"
        )
    return tuple(Device(f"gpu{each}", workers, memory_bytes) for each in ordinals)
