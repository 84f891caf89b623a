"""What is taken for granted where a profile does not say it, so that an answer can tell of it."""

from collections.abc import Collection, Iterator, Sequence

from config.model import Config
from policy import Circuit
from sim.hardware import Host
from sim.profile import MachineProfile

ANYWHERE = {
    "memory": "a process holds what is reserved and nothing beside it (no [memory])",
    "synthesis_slowdown": "partitions that synthesize at once lose nothing to each other but cores "
    "(no synthesis_slowdown)",
    "spread": "a stage takes the same time each time (no spread)",
    "quotient_share": "phase 1 is given back half way through proving (no quotient_share)",
}
ON_A_GPU = {
    "host_before_share": "no CPU work before a GPU's part (no host_before_share)",
    "host_after_share": "no CPU work after it (no host_after_share)",
    "device_slowdown": "a GPU is as fast beside syntheses (no device_slowdown)",
}
ON_HOSTS = {"cores": "a partition keeps one core busy while it synthesizes (no [cores])"}


def assumed(
    profile: MachineProfile, hosts: Sequence[Host], shapes: Collection[Circuit], config: Config
) -> list[str]:
    """In words, each with the key that is missing. `hosts` of the question; `shapes` of what is proved."""
    has_gpus = any(host.gpus for host in hosts)
    lacking = ANYWHERE | (ON_A_GPU if has_gpus else {}) | (ON_HOSTS if hosts else {})
    said = profile.model_fields_set
    lines = [text for key, text in lacking.items() if key not in said]
    on_device = any(shape.device_bytes or shape.device_entry for shape in shapes)
    unknown = [host.name for host in hosts if host.gpus and host.gpu_memory is None]
    if unknown and on_device:
        lines.append(f"the GPUs of host {unknown[0]} never lack memory (no gpu_memory)")
    return lines + [line for host in hosts for line in _of_host(host, profile, shapes, config)]


def _of_host(
    host: Host, profile: MachineProfile, shapes: Collection[Circuit], config: Config
) -> Iterator[str]:
    """Of its parts; a speed beside what was measured is 1, and the budget what the margin leaves."""
    said = host.model_fields_set
    if host.synthesis_slots is None and config.pipeline.enabled and not config.pipeline.synthesis_concurrency:
        slots = f"{host.cores} partitions synthesize at once"
        yield f"{slots} on host {host.name}, one a core (no synthesis_slots)"
    if "disks" not in said:
        yield f"host {host.name} has {host.disks} disk (no disks)"
    if host.disk_bandwidth is None:
        yield f"the disks of host {host.name} are as fast as those measured (no disk_bandwidth)"
    if host.memory_bandwidth is None and profile.synthesis_slowdown:
        yield f"the memory of host {host.name} is as fast as that measured (no memory_bandwidth)"
    if "gpus" not in said:
        yield f"host {host.name} has no GPU, and its processors prove (no gpus)"
    if host.gpus and host.workers is None:
        workers = config.gpus.gpu_workers_per_device
        yield f"each GPU of host {host.name} proves {workers} partitions at once (no workers)"
    if host.gpus and host.pcie_bandwidth is None and any(shape.device_entry for shape in shapes):
        known = profile.pcie_bytes_per_s
        sent = "takes no time" if known is None else f"goes at {known / 1e9:g} GB/s"
        yield f"what is sent to the GPUs of host {host.name} {sent} (no pcie_bandwidth)"
