"""What is taken for granted where a profile does not say it, so that an answer can tell of it."""

from collections.abc import Collection, Sequence

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


def assumed(profile: MachineProfile, hosts: Sequence[Host], shapes: Collection[Circuit]) -> list[str]:
    """In words, each with the key that is missing. `hosts` of the question; `shapes` of what is proved."""
    has_gpus = any(host.gpus for host in hosts)
    lacking = ANYWHERE | (ON_A_GPU if has_gpus else {}) | (ON_HOSTS if hosts else {})
    said = profile.model_fields_set
    lines = [text for key, text in lacking.items() if key not in said]
    on_device = any(shape.device_bytes or shape.device_entry for shape in shapes)
    unknown = [host.name for host in hosts if host.gpus and host.gpu_memory is None]
    if unknown and on_device:
        lines.append(f"the GPUs of host {unknown[0]} never lack memory (no gpu_memory)")
    return lines
